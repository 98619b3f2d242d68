import { readFileSync } from 'node:fs';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

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
