import { readFileSync } from 'node:fs';
import type { JsonObject } from '@phasegate/core';
import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

test('doctor says what is missing, and that a broken definition is broken', async () => {
  const shell = makeShell();
  const empty = await shell.call(['doctor', '--json']);
  expect(empty.code).toBe(0);
  expect(empty.json()).toMatchObject({ ok: true, ring: 'served' });
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
  const ready = (await shell.call(['doctor', '--json'])).json();
  expect(ready.checks).toContainEqual(expect.objectContaining({ name: 'workflow tdd', status: 'ok' }));
  expect(ready.checks).toContainEqual(expect.objectContaining({ name: 'human', message: 'maria' }));

  shell.write('agent_workflow.yaml', 'workflow: tdd\nphases: {}\n');
  expect((await shell.call(['doctor'])).code).toBe(1);
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
