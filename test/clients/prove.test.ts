import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLIENTS } from '../../packages/phasegate/src/clients/kinds/index.ts';
import { asProcess, phasegate, startRun, type TestProject } from '../e2e/cli.ts';
import { attach } from './attach.ts';
import { CLIENT_MS, isThere, play } from './realClient.ts';
import { tddProject } from './tddRun.ts';

/** Every trial starts the client. */
const PROOF_MS = 10 * CLIENT_MS;

test.runIf(isThere('claude'))(
  'a client that was proven has the ring `hooked`, until its settings are others',
  async () => {
    const project = await tddProject();
    await attach(project, 'claude');

    const proven = await asProcess(project, ['doctor', '--prove', '--client', 'claude']);

    expect(proven.code, proven.stdout + proven.stderr).toBe(0);
    expect(proven.stdout).toContain('ring `hooked`');
    expect(await ringOfSession(project)).toBe('hooked');
    expect(await proofOf(project)).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('`hooked`'),
    });
    writeFileSync(join(project.root, '.claude/settings.local.json'), '{ "model": "another" }\n');
    expect(await proofOf(project)).toMatchObject({ message: expect.stringContaining('changed since') });
  },
  PROOF_MS,
);

test.runIf(isThere('claude'))(
  'a client that is held by the hooks of the user, too, is proven with both',
  async () => {
    const project = await tddProject();
    await attach(project, 'claude', ['--user']);

    const { code, stdout, stderr } = await asProcess(project, ['doctor', '--prove', '--client', 'claude']);

    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('ring `hooked`');
    expect(await proofOf(project)).toMatchObject({ status: 'ok' });
  },
  PROOF_MS,
);

test.runIf(isThere('claude'))('a client that is not installed is named, with the way to it', async () => {
  const project = await tddProject();

  const { stdout } = await asProcess(project, ['doctor', '--prove', '--client', 'gemini', '--json'], {
    env: { PATH: '/usr/bin:/bin' },
  });

  expect(JSON.parse(stdout)).toMatchObject({
    clients: [{ client: 'gemini', status: 'not_installed', next_step: 'npm install -g @google/gemini-cli' }],
  });
});

/** The ring of a session of the client that works on a run of its own. */
async function ringOfSession(project: TestProject): Promise<unknown> {
  const run = await startRun(project, 'tdd');
  const { words } = CLIENTS.claude;
  const read = words.read(join(project.root, 'src/slugify.js'));
  await play('claude', project, { script: { turns: [{ calls: [read] }] } });
  const { stdout } = await phasegate(project, ['audit', 'export', '--run', run]);
  return /"event":"session_bound".*?"ring":"(\w+)"/.exec(stdout)?.[1];
}

/** What `doctor` says of the client's proof. */
async function proofOf(project: TestProject): Promise<unknown> {
  const { json } = await phasegate(project, ['doctor', '--json']);
  return (json.checks as readonly { readonly name: string }[]).find(({ name }) => name === 'client claude');
}
