import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

test('with no human set up trust is refused, and says how to set one up', async () => {
  const { code, stderr } = await makeShell().call(['trust']);

  expect(code).toBe(2);
  expect(stderr).toContain('phasegate init');
});

test('without a terminal nothing is accepted unasked', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': 'workflow: w\nphases: { A: {} }\n' });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  expect(await shell.callAs('open sesame', ['trust'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`--yes` is missing'),
  });
  expect((await shell.callAs('open sesame', ['trust', '--yes'])).code).toBe(0);
});
