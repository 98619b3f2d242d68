import { expect, test } from 'vitest';
import { paintFor } from '../paint.ts';
import { describeAnswer, describeRefusal } from './describeAnswer.ts';

test('a passed phase shows the next one with its instructions', async () => {
  const answer = {
    checkpoint_passed: true,
    phase_completed: 0,
    next_phase: 1,
    next_phase_content: 'Do the first thing',
    status: 'active',
    next_action: 'phasegate done r1 --phase 1 --evidence -',
  };

  expect(describeAnswer(answer, await paintFor(false))).toBe(
    'phase 0 completed\nnow in phase 1\n\nDo the first thing\n\nnext: phasegate done r1 --phase 1 --evidence -',
  );
});

test('a refusal tells every reason once and never with a mark that reads as success [adv.L11]', async () => {
  const answer = {
    checkpoint_passed: false,
    error: 'check_failed',
    message: 'tests pass; no plan',
    blockers: [
      { code: 'check_failed', message: 'tests pass' },
      { code: 'check_failed', message: 'no plan' },
    ],
    attempt: 1,
    next_action: 'phasegate done r1 --phase TDD --evidence -',
  };

  const text = describeRefusal(answer, await paintFor(false));

  expect(text).toBe(
    [
      'refused: for 2 reasons [check_failed]',
      '  - tests pass',
      '  - no plan',
      'attempts so far: 1',
      'next: phasegate done r1 --phase TDD --evidence -',
    ].join('\n'),
  );
  expect(text).not.toMatch(/[✓✔☑✅]/u);
});

test('the code stands before several lines, in no sentence and not behind what a program printed', async () => {
  const message = 'the tests failed (exit code 1:\nnot ok 1)';
  const answer = { error: 'check_failed', message, blockers: [{ code: 'check_failed', message }] };

  expect(describeRefusal(answer, await paintFor(false))).toBe(
    'refused: [check_failed] the tests failed (exit code 1:\n> not ok 1)',
  );
});

test('missing evidence is listed', async () => {
  const answer = {
    error: 'incomplete_checkpoint',
    message: 'Provide all required evidence to complete checkpoint',
    missing_evidence: ['plan (required: no description)'],
    blockers: [{ message: 'plan (required: no description)' }],
  };

  expect(describeRefusal(answer, await paintFor(false))).toBe(
    'refused: Provide all required evidence to complete checkpoint [incomplete_checkpoint]\n  - plan (required: no description)',
  );
});

test('a run that now waits says what a human must decide and nothing of the next phase', async () => {
  const answer = {
    checkpoint_passed: true,
    status: 'waiting',
    gate: { id: 'ship#1', prompt: 'Ship?', options: [{ label: 'Yes', requires_input: false }] },
    next_action: 'wait',
  };

  expect(describeAnswer(answer, await paintFor(false))).toBe(
    'the checks passed; a human must decide at ship#1: Ship?\n  - Yes\nnext: wait',
  );
});

test('a refusal for the scope names the run, as the lines around it do', async () => {
  const run = 'run-0123456789abcdef0123';
  const answer = {
    error: 'scope_violation',
    message: 'outside',
    next_action: `phasegate done ${run} --evidence -`,
  };

  const text = describeRefusal(answer, await paintFor(false));

  expect(text).toContain(`a human looks at it with \`phasegate fence ${run}\``);
});
