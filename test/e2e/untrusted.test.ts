import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { callOnce } from './mcpClient.ts';
import { serve } from './server.ts';

const SECRET = { passphrase: 'open sesame' };

test('a server, MCP and the real commands run no byte that nobody accepted, and go on [C33 adv.Q1 adv.Q4 adv.Q6]', async () => {
  const project = await acceptedProject();
  const ran = join(project.root, 'ran');
  project.write('node_modules/dep/index.js', `require('fs').writeFileSync(${JSON.stringify(ran)}, '');`);

  const server = await serve(project);
  const start = (name: string) => phasegate(project, ['start', name, '--url', server.url, '--json'], SECRET);
  const started = await start('x');
  const other = await start('plain');
  const overMcp = await callOnce(project, 'start_workflow', { workflow_type: 'x' });
  const listed = await callOnce(project, 'list_workflows', {});
  const commands = [
    ['validate', 'x.workflow.ts'],
    ['graph', 'x'],
    ['test', 'x'],
  ];
  for (const words of commands) {
    const called = await phasegate(project, [...words, '--json']);
    expect([words, called.code, called.json]).toMatchObject([words, 1, { error: 'untrusted_workflow' }]);
  }

  expect(server.stderr()).toMatch(/2 workflows, 1 not accepted:\n {2}x.workflow.ts: not accepted/);
  expect(started).toMatchObject({
    code: 1,
    json: { error: 'untrusted_workflow', hint: 'phasegate trust x' },
  });
  expect(other.code).toBe(0);
  expect(overMcp).toMatchObject({
    error: 'untrusted_workflow',
    hint: 'a human accepts it with `phasegate trust x`',
  });
  expect(JSON.stringify(listed)).toContain('"x"');
  expect(existsSync(ran)).toBe(false);
  const shown = await phasegate(project, ['graph', 'x', '--as', 'maria'], SECRET);
  expect(shown).toMatchObject({ code: 0, stderr: expect.stringMatching(/closure [0-9a-f]{64}/) });
  expect(existsSync(ran)).toBe(true);
});

test.runIf(FULL)(
  'a server that started a workflow before asks for its acceptance at every further start',
  async () => {
    const project = await acceptedProject();
    const ran = join(project.root, 'ran');
    const server = await serve(project);
    const start = async (name: string) => {
      const { code, json } = await phasegate(project, ['start', name, '--url', server.url, '--json'], SECRET);
      return code === 0 ? 'started' : (json as { readonly error?: string }).error;
    };
    expect([await start('x'), await start('x'), await start('plain')]).toEqual(Array(3).fill('started'));

    const [before, after] = ['exports.dep = 1;\n', 'exports.dep = 2;\n'];
    project.write('node_modules/dep/index.js', after);
    expect(await start('x')).toBe('untrusted_workflow');
    project.write('node_modules/dep/index.js', before);
    expect(await start('x')).toBe('started');

    project.write('plain.workflow.yaml', 'workflow: plain\nphases: { B: {} }\n');
    expect(await start('plain')).toBe('untrusted_workflow');
    expect((await phasegate(project, ['trust', 'plain', '--yes'], SECRET)).code).toBe(0);
    expect(await start('plain')).toBe('started');
    // What was accepted once and is not the last word any more.
    project.write('plain.workflow.yaml', 'workflow: plain\nphases: { A: {} }\n');
    expect(await start('plain')).toBe('untrusted_workflow');

    project.write('node_modules/dep/index.js', `require('fs').writeFileSync(${JSON.stringify(ran)}, '');`);
    expect(await start('x')).toBe('untrusted_workflow');
    expect(existsSync(ran)).toBe(false);
  },
);

async function acceptedProject(): Promise<TestProject> {
  const project = makeProject({
    'plain.workflow.yaml': 'workflow: plain\nphases: { A: {} }\n',
    'x.workflow.ts': `import { defineWorkflow } from '@phasegate/sdk';
import 'dep';
export default defineWorkflow({ type: 'x', steps: [{ name: 'a' }] });
`,
    'node_modules/dep/index.js': 'exports.dep = 1;\n',
  });
  await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: SECRET.passphrase });
  expect((await phasegate(project, ['trust', '--yes'], SECRET)).code).toBe(0);
  expect((await phasegate(project, ['graph', 'x'])).code).toBe(0);
  return project;
}
