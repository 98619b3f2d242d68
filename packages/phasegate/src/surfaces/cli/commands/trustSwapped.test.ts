import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTestProject } from '../../../runtime/fixtures/openTestProject.ts';
import type { OpenProject } from '../../../runtime/ports.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const FILE = 'w.workflow.yaml';
const GOOD =
  'workflow: w\nphases: { A: { gate: { human: { prompt: "Good?", options: [{ label: Yes }] } } }, B: {} }\n';
const NEXT = GOOD.replace('Good?', 'Better?');

/** What somebody can put in the place of a file. */
const PUT: Readonly<Record<string, (place: string) => void>> = {
  'another text': (place) => writeFileSync(place, `${NEXT}# planted\n`),
  nothing: () => undefined,
  'a folder': (place) => mkdirSync(place),
  'a pipe': (place) => void execFileSync('mkfifo', [place]),
  'a link out of the project': (place) => symlinkSync('/etc/hostname', place),
  'a large file': (place) => writeFileSync(place, Buffer.alloc(10 * 1024 * 1024 + 1, '#')),
};

test.each(Object.keys(PUT))(
  'a file that is swapped for %s is not asked about, and nothing is accepted',
  async (name) => {
    const shell = await staffed();
    shell.write(FILE, NEXT);
    const { open, close } = await opened(shell);
    const swapping: OpenProject = {
      ...open,
      trust: {
        ...open.trust,
        workflows: {
          ...open.trust.workflows,
          async card(workflow) {
            const card = await open.trust.workflows.card(workflow);
            put(shell, name);
            return card;
          },
          async accept(...asked) {
            // Anyone who swaps a file swaps it back before it is hashed again.
            rmSync(join(shell.root, FILE), { recursive: true, force: true });
            shell.write(FILE, NEXT);
            return open.trust.workflows.accept(...asked);
          },
        },
      },
    };

    const fd = String(shell.descriptor('open sesame\n'));
    const trusted = await shell.callIn(swapping, ['trust', '--yes', '--passphrase-fd', fd]);

    expect(trusted).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('changed since it was looked at; look again'),
    });
    rmSync(join(shell.root, FILE), { recursive: true, force: true });
    shell.write(FILE, NEXT);
    expect((await open.trust.workflows.card('w')).trusted).toBe(false);
    await close();
  },
);

test.each(Object.keys(PUT))('a file that is swapped for %s is told at the gate', async (name) => {
  const shell = await staffed();
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);
  expect((await shell.callAs('open sesame', ['status', run])).stdout).not.toContain('accepted');

  put(shell, name);

  const { code, stdout } = await shell.callAs('open sesame', ['status', run]);
  expect(code).toBe(0);
  expect(stdout.replaceAll('\n  ', ' ')).toMatch(
    /`w\.workflow\.yaml` (differs from what was accepted|cannot be compared with what was accepted: `)/,
  );
});

test('a file that is found by a link inside of the project is compared by what it says', async () => {
  const shell = await staffed();
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);
  rmSync(join(shell.root, FILE));
  shell.write('kept.yaml', GOOD);

  symlinkSync('kept.yaml', join(shell.root, FILE));

  expect((await shell.callAs('open sesame', ['status', run])).stdout).not.toContain('accepted');
});

test('the name of a file begins no line', async () => {
  const forged = 'w\nnothing to accept\n.workflow.yaml';
  const shell = makeShell({ [forged]: GOOD });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const shown = await shell.callAs('open sesame', ['trust', '--yes', '--full']);
  shell.write(forged, 'workflow: w\nphases: 7\n');
  const invalid = await shell.call(['validate', forged]);
  const missing = await shell.call(['validate', 'x\nnothing to accept\n.workflow.yaml']);

  for (const { stdout, stderr } of [shown, invalid, missing])
    expect(`${stdout}${stderr}`).not.toMatch(/^nothing to accept/m);
});

function put(shell: Shell, name: string): void {
  const place = join(shell.root, FILE);
  rmSync(place, { recursive: true });
  PUT[name]?.(place);
}

async function opened(shell: Shell) {
  const project = await openTestProject({ projectDir: shell.root, env: shell.env });
  const open = await project.open();
  return { open, close: () => open.close() };
}

async function staffed(): Promise<Shell> {
  const shell = makeShell({ [FILE]: GOOD });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  return shell;
}
