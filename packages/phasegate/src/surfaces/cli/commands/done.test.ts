import { expect, test } from 'vitest';
import { makeShell } from '../fixtures/callCli.ts';

test('a run that has ended is answered in the shape of every refusal, with or without a phase', async () => {
  const shell = makeShell({ 'agent_workflow.yaml': 'workflow: w\nphases: { A: {} }\n' });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  await shell.call(['done', run]);

  for (const named of [[], ['--phase', 'A']]) {
    const { code, json } = await shell.call(['done', run, ...named, '--json']);
    expect(code).toBe(1);
    expect(json()).toMatchObject({
      checkpoint_passed: false,
      error: 'run_ended',
      blockers: [{ code: 'run_ended' }],
      current_phase: null,
      current_phase_content: '',
      status: 'completed',
      next_action: 'nothing: the run is completed',
    });
  }
});

test('the next phase comes with the text its function made', async () => {
  const steps = "[{ name: 'a' }, { name: 'b', body: () => ['Second', 'made just now'] }]";
  const shell = makeShell({
    'w.workflow.ts': `import { defineWorkflow } from '@phasegate/sdk';
export default defineWorkflow({ type: 'w', name: 'W', initialStep: 'a', steps: ${steps} });
`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);

  const answer = (await shell.call(['done', run, '--json'])).json();

  expect(answer.next_phase_content).toContain('made just now');
  expect(answer.next_phase_content).toBe((await shell.call(['next', run, '--json'])).json().phase_content);
});

test('an agent that was started for an earlier visit of a phase does not complete a later one [adv.O7]', async () => {
  const shell = makeShell({
    'agent_workflow.yaml': `workflow: w
phases:
  A: { next: { condition: result.ok.yes === true, on_true: B, on_false: A, max_iterations: 3 } }
  B: {}
`,
  });
  const run = String((await shell.call(['start', 'w', '--json'])).json().run);
  const env = { PHASEGATE_RUN: run, PHASEGATE_STEP: 'A', PHASEGATE_EPOCH: '1' };
  expect(
    (await shell.call(['done', run, '--evidence', '-', '--json'], '{"ok":{"yes":false}}', env)).json(),
  ).toMatchObject({ checkpoint_passed: true, next_phase: 'A' });

  const { code, json } = await shell.call(
    ['done', run, '--evidence', '-', '--json'],
    '{"ok":{"yes":true}}',
    env,
  );

  expect(code).toBe(1);
  expect(json()).toMatchObject({ error: 'run_changed' });
  expect((await shell.call(['status', run, '--json'])).json()).toMatchObject({ phase: 'A' });
});
