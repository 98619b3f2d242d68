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

test('documents that agents are served are accepted with the workflows, and a later change is told', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: w\nphases: { A: {} }\n',
    'README.md': '# Release\n\nRoll back a release with the previous tag.\n',
  });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  const trusted = await shell.callAs('open sesame', ['trust', '--yes', '--json']);
  expect(JSON.parse(trusted.stdout)).toMatchObject({
    documents: { accepted: true, changed: ['README.md'] },
  });
  expect((await shell.call(['search', 'release'])).stdout).not.toContain('changed since accepted');

  shell.write('README.md', '# Release\n\nA release is never rolled back.\n');

  expect((await shell.call(['search', 'release'])).stdout).toContain('changed since accepted');
});
