import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Machine } from '../command.ts';
import { makeShell, type Shell } from '../fixtures/callCli.ts';

const GATE = '{ human: { prompt: "Good?", options: [{ label: Yes }] } }';
/** Nothing of it is used here. */
const NO_MACHINE = {} as Machine;

const FIRST = `workflow: w
phases:
  A:
    instructions: Look.
    writes: ["docs/**"]
    gate: ${GATE}
  B: {}
`;

test('trust shows what changed in a file since it was accepted, and obeys nothing in it', async () => {
  const shell = await staffed();
  shell.write('w.workflow.yaml', FIRST.replace('"docs/**"', '"**"').replace('Look.', 'Look.\u001b[2J\u202e'));

  const { code, stderr } = await shell.callAs('open sesame', ['trust', '--yes']);

  expect(code).toBe(0);
  expect(stderr).toContain('w.workflow.yaml (changed)');
  expect(stderr.split('\n').filter((line) => line.startsWith('| '))).toEqual([
    '|   workflow: w',
    '|   phases:',
    '|     A:',
    '| -     instructions: Look.',
    '| -     writes: ["docs/**"]',
    '| +     instructions: Look.\\u{1b}[2J\\u{202e}',
    '| +     writes: ["**"]',
    `|       gate: ${GATE}`,
    '|     B: {}',
  ]);
  expect((await shell.callAs('open sesame', ['trust', '--yes'])).stderr).not.toContain('| ');
});

test('a new file is shown whole where somebody is asked, and a long one is cut with the way to the rest', async () => {
  const notes = Array.from({ length: 300 }, (_, at) => `# note ${at}\n`).join('');
  const shell = makeShell({ 'w.workflow.yaml': `${FIRST}${notes}` });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const cut = await shell.callAt(NO_MACHINE, ['trust', ...secret(shell)], ['\r']);
  expect(cut.code).toBe(1);
  expect(cut.stderr).toContain('| + # note 192\n');
  expect(cut.stderr).not.toContain('# note 193');
  expect(cut.stderr).toContain('107 more lines are not shown: `phasegate trust w --full`');

  const full = await shell.callAs('open sesame', ['trust', '--yes', '--full']);
  expect(full.stderr).toContain('| + # note 299\n');
});

test('where no copy of what was accepted is kept, that is said and the file is shown whole', async () => {
  const shell = await staffed();
  rmSync(acceptedFolder(shell), { recursive: true });
  shell.write('w.workflow.yaml', FIRST.replace('Look.', 'Look twice.'));

  const { stderr } = await shell.callAs('open sesame', ['trust', '--yes']);

  expect(stderr).toContain('note: no copy of what was accepted is kept, so all of it is shown');
  expect(stderr).toContain('| +     instructions: Look twice.');
});

test('a copy that somebody changed is none: the hash is what a human signed', async () => {
  const shell = await staffed();
  const folder = acceptedFolder(shell);
  const [name = ''] = readdirSync(folder);
  writeFileSync(join(folder, name), 'workflow: forged\n');
  shell.write('w.workflow.yaml', FIRST.replace('Look.', 'Look twice.'));

  const { stderr } = await shell.callAs('open sesame', ['trust', '--yes']);

  expect(stderr).not.toContain('forged');
  expect(stderr).toContain('no copy of what was accepted is kept');
});

test('list and the gate card say that a file differs from what was accepted', async () => {
  const shell = await staffed();
  shell.write('other.workflow.yaml', 'workflow: other\nphases: { A: {} }\n');
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);
  const before = await shell.callAs('open sesame', ['status', run]);
  expect(before.stdout).not.toContain('differs');
  const shown = await shell.shown(run);

  shell.write('w.workflow.yaml', FIRST.replace('Look.', 'Look twice.'));

  const { stdout } = await shell.call(['list']);
  expect(stdout).toMatch(/^w .*differs from what was accepted: w\.workflow\.yaml changed$/m);
  expect(stdout).toMatch(/^other .*not accepted$/m);
  expect((await shell.call(['list', '--json'])).json().workflows).toContainEqual(
    expect.objectContaining({
      id: 'w',
      accepted: false,
      differs: [{ path: 'w.workflow.yaml', change: 'changed' }],
    }),
  );
  const after = await shell.callAs('open sesame', ['status', run]);
  expect(after.stdout.replaceAll('\n  ', ' ')).toContain(
    '! `w.workflow.yaml` differs from what was accepted',
  );
  // The workspace moved since the gate opened: what was shown before is no longer what is decided on.
  expect(await shell.shown(run)).not.toBe(shown);
});

async function staffed(): Promise<Shell> {
  const shell = makeShell({ 'w.workflow.yaml': FIRST });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  return shell;
}

function secret(shell: Shell): readonly string[] {
  return ['--passphrase-fd', String(shell.descriptor('open sesame\n'))];
}

function acceptedFolder(shell: Shell): string {
  const home = join(String(shell.env.XDG_STATE_HOME), 'phasegate');
  const [project = ''] = readdirSync(home);
  return join(home, project, 'accepted');
}
