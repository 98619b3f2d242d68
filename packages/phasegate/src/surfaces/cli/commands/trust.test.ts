import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
    stderr: expect.stringMatching(
      /`--yes` is missing.*\nhint: run it on a terminal, which shows what changed/,
    ),
  });
  expect((await shell.callAs('open sesame', ['trust', '--yes'])).code).toBe(0);
});

test('a version that was accepted before the last one is not trusted any more [adv.J1]', async () => {
  const [loose, strict] = [['read_files', 'bash'], ['read_files']].map(
    (tools) => `workflow: w\nphases: { A: { allowed_tools: ${JSON.stringify(tools)} } }\n`,
  );
  const shell = makeShell({ 'agent_workflow.yaml': String(loose) });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  shell.write('agent_workflow.yaml', String(strict));
  await shell.callAs('open sesame', ['trust', '--yes']);
  expect((await shell.call(['start', 'w'])).code).toBe(0);

  shell.write('agent_workflow.yaml', String(loose));

  expect(await shell.call(['start', 'w'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('phasegate trust w'),
  });
  expect((await shell.callAs('open sesame', ['trust', '--yes'])).code).toBe(0);
  expect((await shell.call(['start', 'w'])).code).toBe(0);
});

test('a version that was accepted under a name the human gave up is not trusted any more [adv.J1]', async () => {
  const loose = 'workflow: loose\nphases: { A: { allowed_tools: [bash] } }\n';
  const shell = makeShell({ 'agent_workflow.yaml': loose });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', '--yes']);
  shell.write('agent_workflow.yaml', 'workflow: strict\nphases: { A: {} }\n');
  await shell.callAs('open sesame', ['trust', '--yes']);
  expect((await shell.call(['start', 'strict'])).code).toBe(0);

  shell.write('agent_workflow.yaml', loose);

  expect(await shell.call(['start', 'loose'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('phasegate trust loose'),
  });
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

test('of a workflow in code its migrations are accepted with it, once it was let say which they are', async () => {
  const shell = makeShell({
    'x.workflow.ts': `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({
  type: 'x',
  database: { file: 'x.db', migrations: 'migrations' },
  steps: [{ name: 'a', postconditions: [{ name: 'c', check: () => true }] }],
});
`,
  });
  mkdirSync(join(shell.root, 'migrations'));
  shell.write('migrations/0001-first.sql', 'CREATE TABLE t (a);\n');
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);

  const trusted = await shell.callAs('open sesame', ['trust', 'x', '--yes']);

  expect(trusted).toMatchObject({ code: 0, stderr: expect.stringContaining('migrations/0001-first.sql') });
  expect((await shell.call(['start', 'x'])).code).toBe(0);
  expect((await shell.callAs('open sesame', ['trust', 'x', '--yes'])).stdout).toBe('x: already accepted\n');
  shell.write('migrations/0001-first.sql', 'CREATE TABLE u (a);\n');
  expect((await shell.call(['start', 'x', '--json'])).json()).toMatchObject({ error: 'untrusted_workflow' });
});
