import { describe, expect, test } from 'vitest';
import {
  canAccessPhase,
  completedPhases,
  evidenceProblems,
  phaseAnswer,
  requiredEvidence,
  validateCheckpoint,
} from '../engine.ts';
import { phaseById } from '../model/workflow.ts';
import { answerFor } from './fixtures/answerFor.ts';
import { ADA, complete, phases, started, submit, workflowOf } from './fixtures/walks.ts';

const fields = [
  { name: 'function_count', type: 'int', rule: 'positive', description: 'functions found' },
  { name: 'functions_list', type: 'list', rule: 'non_empty', description: 'their names' },
] as const;
const workflow = workflowOf(phases(3, (index) => (index === 0 ? { fields } : {})));
const first = phaseById(workflow, 1) ?? workflow.phases[0];
if (first === undefined) throw new Error('the workflow has no phase');
const RIGHT = { function_count: 2, functions_list: ['a', 'b'] };

describe('phase gating', () => {
  test('says whether a phase may be read, gives its content, and moves on [S0.3]', () => {
    const run = started(workflow);
    expect([1, 2, 3].map((id) => canAccessPhase(run, id))).toEqual([true, false, false]);
    expect(phaseAnswer(run, 2)).toMatchObject({ ok: false });

    const { run: moved } = submit(run, complete(run, RIGHT));

    expect([1, 2, 3].map((id) => canAccessPhase(moved, id))).toEqual([true, true, false]);
    expect(phaseAnswer(moved, 2)).toMatchObject({
      ok: true,
      phase: { id: 2, content: expect.stringContaining('SECRET-OF-2') },
    });
  });
});

describe('a checkpoint', () => {
  test('says what it wants, judges evidence against that, and is known to be passed [S0.4]', () => {
    const run = started(workflow);

    expect(requiredEvidence(first)).toEqual({
      function_count: { type: 'int', validator: 'positive', description: 'functions found' },
      functions_list: { type: 'list', validator: 'non_empty', description: 'their names' },
    });
    expect(evidenceProblems(first.evidence, RIGHT)).toEqual([]);
    expect(completedPhases(run)).toEqual([]);
    expect(completedPhases(submit(run, complete(run, RIGHT)).run)).toEqual([1]);
  });

  test.each([
    [RIGHT, true, []],
    [{ function_count: 2 }, false, ['functions_list (required: their names)']],
    [
      { function_count: 0, functions_list: 'a' },
      false,
      [
        'function_count (validation failed: functions found)',
        'functions_list (wrong type: expected list, got str)',
      ],
    ],
  ])(
    'answers %j with whether it passed and all that is missing [S0.30 S0.36]',
    (evidence, passed, missing) => {
      expect(validateCheckpoint(first, evidence)).toEqual({ passed, missing });
    },
  );
});

describe('an error', () => {
  test('of the sequence and of the evidence has its own shape, and the run goes on from both [S0.6]', () => {
    const run = started(workflow);
    const early = { kind: 'complete', phase: 3, evidence: {} } as const;
    const skipped = submit(run, early);
    const empty = submit(skipped.run, complete(run));

    expect(answerFor(run, early, skipped)).toMatchObject({
      error: 'phase_sequence_violation',
      message: 'Cannot access Phase 3',
      reason: 'Currently on Phase 1',
      required_action: 'Complete Phase 1 checkpoint first',
      violation_type: 'attempted_skip',
      current_phase: 1,
      artifacts_available: {},
      progress: { completed: 0, current: 1, total: 3 },
    });
    expect(answerFor(skipped.run, complete(run), empty)).toMatchObject({
      error: 'incomplete_checkpoint',
      required_format: requiredEvidence(first),
    });
    expect(submit(empty.run, complete(run, RIGHT)).run).toMatchObject({ status: 'active', phase: 2 });
  });

  test('that was escalated is recovered from by a human, in the same phase [S0.6]', () => {
    let run = started(workflow);
    while (run.status === 'active') run = submit(run, complete(run)).run;
    expect(run).toMatchObject({ status: 'escalated', phase: 1 });

    const { run: resumed } = submit(run, { kind: 'resume', note: 'count them' }, { principal: ADA });

    expect(resumed).toMatchObject({ status: 'active', phase: 1 });
    expect(submit(resumed, complete(resumed, RIGHT)).run.phase).toBe(2);
  });
});
