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
