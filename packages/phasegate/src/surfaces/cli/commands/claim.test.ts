import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

const WORKFLOW = 'workflow: errand\nphases: { GO: { instructions: Go there }, RETURN: {} }\n';

test('runs are claimed by priority, then age, each once; then there is nothing [S2.26]', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const queue = async (...words: string[]) =>
    String((await shell.call(['start', 'errand', '--queue', ...words, '--json'])).json().run);
  const first = await queue();
  const second = await queue();
  const urgent = await queue('--priority', '5');

  const claimed: unknown[] = [];
  for (let count = 0; count < 3; count++) claimed.push((await shell.call(['claim', '--json'])).json().run);

  expect(claimed).toEqual([urgent, first, second]);
  expect(await shell.call(['claim', '--json'])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"run":null'),
  });
});

test('what was claimed is shown with its phase, and can be worked on at once', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  await shell.call(['start', 'errand', '--queue']);

  const claimed = (await shell.call(['claim', '--json'])).json();

  expect(claimed).toMatchObject({
    workflow: 'errand',
    status: 'active',
    phase: 'GO',
    item: null,
    phase_content: expect.stringContaining('Go there'),
    next_action: expect.stringContaining('phasegate done'),
  });
  expect((await shell.call(['done', String(claimed.run)])).code).toBe(0);
});

test('a run asks for capabilities, which an agent was given or says it has', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': WORKFLOW });
  const words = ['start', 'errand', '--queue', '--capability', 'python', '--json'];
  const run = String((await shell.call(words)).json().run);
  const add = async (name: string, capability: string) =>
    String((await shell.call(['agents', 'add', name, '--capability', capability, '--json'])).json().key);
  const cook = await add('ada', 'cooking');

  expect((await shell.call(['claim'])).code).toBe(1);
  expect((await shell.call(['claim', '--capability', 'python'], '', { PHASEGATE_KEY: cook })).code).toBe(1);
  expect(await shell.call(['claim', run], '', { PHASEGATE_KEY: cook })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('python'),
  });
  expect((await shell.call(['claim', '--capability', 'python', '--json'])).json()).toMatchObject({ run });
});

test('a priority that is not a number is wrong usage', async () => {
  expect(await makeShell().call(['start', 'errand', '--priority', 'high'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`--priority` needs a whole number'),
  });
});
