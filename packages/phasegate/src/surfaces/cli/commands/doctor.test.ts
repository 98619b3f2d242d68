import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { openTestProject } from '../../../runtime/fixtures/openTestProject.ts';
import type { ClientProof } from '../../../runtime/ports.ts';
import { makeShell } from '../fixtures/callCli.ts';
import { testingMachine } from '../fixtures/testCommand.ts';

test('doctor says what is missing, and that a broken definition is broken', async () => {
  const shell = makeShell();
  const empty = await shell.call(['doctor', '--json']);
  expect(empty.code).toBe(1);
  expect(empty.json()).toMatchObject({ ok: false, ring: 'served' });
  const steps = (empty.json().checks as JsonObject[]).filter(({ next_step }) => next_step !== undefined);
  expect(steps).toEqual([
    {
      name: 'project',
      status: 'missing',
      message: expect.stringContaining('neither a Phasegate config nor a workflow'),
      next_step: 'phasegate init',
    },
  ]);
  shell.write('phasegate.config.json', '{}\n');
  expect((await shell.call(['doctor', '--json'])).json().checks).toContainEqual(
    expect.objectContaining({ name: 'human', status: 'missing' }),
  );

  await shell.callAs('open sesame', ['init', '--test', 'npm test']);
  const called = await shell.call(['doctor', '--json']);
  const ready = called.json();
  expect(called.code).toBe(0);
  expect(ready.ok).toBe(true);
  expect(ready.checks).toContainEqual(expect.objectContaining({ name: 'workflow tdd', status: 'ok' }));
  expect(ready.checks).toContainEqual(expect.objectContaining({ name: 'human', message: 'maria' }));
  expect(ready.checks).toContainEqual(expect.objectContaining({ name: 'hooks', status: 'optional' }));
  const sandbox = (ready.checks as JsonObject[]).find(({ name }) => name === 'sandbox');
  expect(sandbox?.status === 'ok' || typeof sandbox?.next_step === 'string').toBe(true);

  shell.write('agent_workflow.yaml', 'workflow: tdd\nphases: {}\n');
  expect((await shell.call(['doctor'])).code).toBe(1);
});

test('doctor says a step once, tells what is optional, and fails for what is needed', async () => {
  const shell = makeShell({
    'phasegate.config.yaml':
      'servers:\n  one: { command: [node, one.js] }\n  two: { command: [node, two.js] }\n',
    'a.workflow.yaml': 'workflow: a\nphases: { DO: {} }\n',
  });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const untrusted = await shell.call(['doctor']);
  expect(untrusted.code).toBe(1);
  expect(untrusted.stdout).toMatch(/^missing +workflow a/m);
  expect(untrusted.stdout).toMatch(/^optional +server one/m);
  expect(untrusted.stdout.match(/phasegate trust --servers/g)).toHaveLength(1);

  await shell.callAs('open sesame', ['trust', 'a', '--yes']);
  expect((await shell.call(['doctor', '--json'])).json()).toMatchObject({ ok: true });
});

test('doctor goes on where there are more workflow files than are looked at', async () => {
  const shell = makeShell();
  for (let at = 0; at < 2001; at += 1)
    shell.write(`w${at}.workflow.yaml`, `workflow: w${at}\nphases: { A: {} }\n`);

  const { checks } = (await shell.call(['doctor', '--json'])).json();

  expect(checks).toContainEqual(expect.objectContaining({ name: 'project', status: 'ok' }));
  expect(checks).toContainEqual(expect.objectContaining({ name: 'workflows', status: 'broken' }));
  expect(checks).toContainEqual(expect.objectContaining({ name: 'ring' }));
});

test('doctor tells a fault of the look whether there is a project, and goes on', async () => {
  const shell = makeShell();
  const exists = () => Promise.reject(new Error('no disk'));

  const { checks } = (await shell.callOn({ exists }, ['doctor', '--json'])).json();

  expect(checks).toContainEqual(
    expect.objectContaining({ name: 'project', status: 'broken', message: 'no disk' }),
  );
  expect(checks).toContainEqual(expect.objectContaining({ name: 'ring' }));
});

test('doctor makes nothing', async () => {
  const shell = makeShell();
  await shell.call(['doctor']);

  expect(() => readFileSync(String(shell.env.XDG_STATE_HOME))).toThrow('ENOENT');
});

test('a config with an unknown key stops every command with exit code 2', async () => {
  const shell = makeShell({ 'phasegate.config.yaml': 'workflow: []\n' });

  expect(await shell.call(['list'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('phasegate.config.yaml:1:1: unknown key `workflow`'),
  });
});

const PROOF = {
  client: 'codex',
  title: 'Codex CLI',
  program: '/nowhere/codex',
  version: '0.166.0',
  sha256: 'a',
  identity: 'b',
  settings: [],
  kernel: 'linux',
  at: '2026-11-17T05:00:00.000Z',
  ring: 'served',
  walls: [{ name: 'edit', title: 'an edit', outcome: 'detected', after_ms: 1200 }],
} as const;
const INIT_CODEX = ['init', '--template', 'minimal', '--yes', '--client', 'codex'];

/** A shell on whose machine hooks can be set up, and what its doctor says of the client. */
function shellWithClients() {
  const shell = makeShell({ 'phasegate.config.json': '{}\n' });
  Object.assign(shell.env, { PATH: '/usr/bin:/bin' });
  const asked: (string | null)[] = [];
  const machine = testingMachine(new AbortController().signal, {
    launcher: ['/nowhere/phasegate'],
    prove: async ({ client, told }) => {
      asked.push(client);
      told('Codex CLI: control');
      const missing = { status: 'not_installed', reason: 'no `gemini` is on the PATH' } as const;
      return [
        { client: 'codex', title: 'Codex CLI', status: 'proven', proof: PROOF },
        { client: 'gemini', title: 'Gemini CLI', ...missing },
      ];
    },
  });
  return { shell, machine, asked };
}

function ofCodex(checks: unknown): JsonObject | undefined {
  return (checks as JsonObject[]).find(({ name }) => name === 'client codex');
}

test('doctor --prove keeps what held, tells what did not, and doctor tells it again while it stands', async () => {
  const { shell, machine, asked } = shellWithClients();
  expect((await shell.callWith(machine, INIT_CODEX)).code).toBe(0);

  const proven = await shell.callWith(machine, ['doctor', '--prove', '--client', 'codex']);

  expect(proven.code).toBe(1);
  expect(asked).toEqual(['codex']);
  expect(proven.stderr).toContain('Codex CLI: control');
  expect(proven.stdout).toMatch(/Codex CLI 0\.166\.0: ring `served`\ndetected after 1\.2 s {2}an edit/);
  expect(proven.stdout).toContain('Gemini CLI: not proven, no `gemini` is on the PATH');
  const prove = 'phasegate doctor --prove --client codex';
  expect(ofCodex((await shell.call(['doctor', '--json'])).json().checks)).toMatchObject({
    status: 'optional',
    message: expect.stringContaining('changed since'),
    next_step: prove,
  });

  // What is not set up any more need not be proven.
  expect((await shell.callWith(machine, ['uninit', '--yes'])).code).toBe(0);
  const after = await shell.call(['doctor', '--json']);
  expect(ofCodex(after.json().checks)).toMatchObject({ message: expect.stringContaining('not set up here') });
  expect(after.stdout).not.toContain(prove);
});

test.each([Buffer.of(0xff, 0xfe), Buffer.from('port: [')])(
  'doctor has a config that cannot be read corrected, and not accepted as it is (%#)',
  async (bytes) => {
    const shell = makeShell();
    await shell.callAs('open sesame', ['init', '--template', 'minimal', '--yes']);
    writeFileSync(join(shell.root, 'phasegate.config.yaml'), bytes);

    const { stdout } = await shell.call(['doctor']);

    expect(stdout).toMatch(
      /guarded file phasegate\.config\.yaml +changed .*; it cannot be read: correct it first/,
    );
    expect(stdout).not.toContain('trust --guarded');
    expect(stdout).toMatch(/next:\n {2}(save|correct) `phasegate\.config\.yaml`/);
  },
);

test('doctor --prove on a machine without clients fails, and says what to install', async () => {
  const shell = makeShell({ 'phasegate.config.json': '{}\n' });
  const absent = { status: 'not_installed', reason: 'no `gemini` is on the PATH' } as const;
  const prove = async () => [
    { client: 'gemini', title: 'Gemini CLI', ...absent, next_step: 'npm install -g gemini' } as const,
  ];
  const machine = testingMachine(new AbortController().signal, { prove });

  const { code, stdout } = await shell.callWith(machine, ['doctor', '--prove']);
  const told = await shell.callWith(machine, ['doctor', '--prove', '--json']);

  expect(code).toBe(1);
  expect(stdout).toContain('next: npm install -g gemini');
  expect(stdout).toContain('nothing was proven: install one of them, and attach it');
  expect([told.code, told.json().ok]).toEqual([1, false]);
});

test('doctor tells what could not be tried from what did not hold, and does not ask for the same again', async () => {
  const { shell, machine } = shellWithClients();
  expect((await shell.callWith(machine, INIT_CODEX)).code).toBe(0);
  const open = await (await openTestProject({ projectDir: shell.root, env: shell.env })).open();
  const said = async (walls: ClientProof['walls']) => {
    const proofs = { ...open.proofs, all: async () => [{ proof: { ...PROOF, walls }, stands: true }] };
    const { stdout, json } = await shell.callIn({ ...open, proofs }, ['doctor', '--json']);
    expect(stdout).not.toContain('--prove');
    return String(ofCodex(json().checks)?.message);
  };
  const untried = { name: 'shell', title: 'a shell', outcome: 'untested' } as const;

  const silent = await said([{ ...untried, note: 'it asked its model nothing:\nENOENT' }]);
  expect(silent).toMatch(/could not be tried: shell \(it asked its model nothing: ?\S*ENOENT\)/);
  expect(silent).not.toContain('did not hold');
  const missed = await said([
    { name: 'edit', title: 'an edit', outcome: 'missed' },
    { ...untried, note: 'the client has no such tool' },
  ]);
  expect(missed).toContain('these did not hold: edit;');
  expect(missed).not.toContain('could not be tried');
  expect(await said(PROOF.walls)).toContain('noticed only afterwards: edit');
  await open.close();
});

test.each([
  [['doctor', '--client', 'claude'], '`--client` goes with `--prove`'],
  [['doctor', '--prove', '--client', 'emacs'], '`emacs` is not a client that is known'],
])('%j is wrong usage', async (words, said) => {
  const { code, stderr } = await makeShell({ 'phasegate.config.json': '{}\n' }).call(words);

  expect(code).toBe(2);
  expect(stderr).toContain(said);
});
