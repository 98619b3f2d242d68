import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

test('a phase is an id wherever it is named, and its fields stand beside it [C25]', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': 'workflow: w\nphases: { 0: { instructions: Look. }, 1: {} }\n',
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({
    phase: 0,
    current_phase: 0,
    phase_number: 0,
    phase_content: expect.stringContaining('Look.'),
    tasks: [],
  });
});

test('what is said of the project stands below a list of runs, and not behind the last of them', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': 'workflow: w\nphases: { A: { instructions: Look. } }\n' });
  await shell.callAs('open sesame', ['humans', 'add', 'maria']);
  await shell.callAs('open sesame', ['trust', 'w', '--yes']);
  for (const goal of ['one', 'two']) await shell.call(['start', 'w', goal]);
  expect((await shell.callAs('open sesame', ['pause', '--reason', 'by hand'])).code).toBe(0);

  const { stderr } = await shell.call(['status', 'run-']);

  const lines = stderr.trimEnd().split('\n');
  expect(lines.filter((line) => /goal, .*: (?:one|two)$/.test(line))).toHaveLength(2);
  expect(lines.at(-1)).toMatch(/^\S*paused/);
});
