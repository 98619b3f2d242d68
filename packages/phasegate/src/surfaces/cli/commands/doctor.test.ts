import { readFileSync } from 'node:fs';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
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

test('doctor --prove keeps what held, tells what did not, and doctor tells it again while it stands', async () => {
  const shell = makeShell({ 'phasegate.config.json': '{}\n' });
  const asked: (string | null)[] = [];
  const wall = { name: 'edit', title: 'an edit', outcome: 'detected', after_ms: 1200 } as const;
  const proof = {
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
    walls: [wall],
  } as const;
  const machine = testingMachine(new AbortController().signal, {
    prove: async ({ client, told }) => {
      asked.push(client);
      told('Codex CLI: control');
      return [
        { client: 'codex', title: 'Codex CLI', status: 'proven', proof },
        {
          client: 'gemini',
          title: 'Gemini CLI',
          status: 'not_installed',
          reason: 'no `gemini` is on the PATH',
        },
      ];
    },
  });

  const proven = await shell.callWith(machine, ['doctor', '--prove', '--client', 'codex']);

  expect(proven.code).toBe(1);
  expect(asked).toEqual(['codex']);
  expect(proven.stderr).toContain('Codex CLI: control');
  expect(proven.stdout).toMatch(/Codex CLI 0\.166\.0: ring `served`\ndetected after 1\.2 s {2}an edit/);
  expect(proven.stdout).toContain('Gemini CLI: not proven, no `gemini` is on the PATH');
  expect((await shell.call(['doctor', '--json'])).json().checks).toContainEqual(
    expect.objectContaining({
      name: 'client codex',
      status: 'optional',
      message: expect.stringContaining('changed since'),
      next_step: 'phasegate doctor --prove --client codex',
    }),
  );
});

test.each([
  [['doctor', '--client', 'claude'], '`--client` goes with `--prove`'],
  [['doctor', '--prove', '--client', 'emacs'], '`emacs` is not a client that is known'],
])('%j is wrong usage', async (words, said) => {
  const { code, stderr } = await makeShell({ 'phasegate.config.json': '{}\n' }).call(words);

  expect(code).toBe(2);
  expect(stderr).toContain(said);
});
