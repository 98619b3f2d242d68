import { describe, expect, test } from 'vitest';
import type { PhaseDraft, WorkflowDraft } from '../model/draft.ts';
import type { Outcome } from '../model/workflow.ts';
import { ADA, complete, result, started, submit, workflowOf } from './fixtures/walks.ts';
import type { Completion, Run } from './run.ts';

const PERMISSIVE = { enforcement: { mode: 'permissive' } } as const;
const yes = { label: 'Yes' };

describe('what a choice at a gate means', () => {
  test('a skip does not end where `ok` ends the run: the end is a way of its own', () => {
    const next = { outcomes: { ok: null, fail: 'A', skip: 'B', _default: 'B' } } as const;
    const run = waiting({ work: { kind: 'handler', ref: 'h' }, next }, {}, { outcome: 'skip' });

    const decided = choose(run, 'Yes');

    expect(decided.run.phase).toBe('B');
    expect(last(decided.run)).toMatchObject({ outcome: 'skip' });
    expect(last(decided.run)).not.toHaveProperty('approved');
  });

  test('what is approved is what the card showed, not the decision itself', () => {
    const gates = [{ id: 'g', human: { prompt: '?', context: ['gateDecision'], options: [yes] } }];

    expect(last(choose(waiting({ gates }), 'Yes').run).approved).toEqual({});
  });

  test('permissive mode says which checks no longer pass when a human approves, and takes no value from it', () => {
    const run = waiting(
      { postconditions: [{ check: 'asked' }], fields: [{ name: 'n', type: 'int' }] },
      PERMISSIVE,
    );

    const decided = choose(run, 'Yes', 'failed');

    expect(decided.verdict).toMatchObject({ allowed: true, wouldRefuse: [{ code: 'check_failed' }] });
    expect(last(decided.run)).toMatchObject({ outcome: 'ok', letThrough: true });
  });

  test('what permissive mode let through is approved under no name of the context', () => {
    const gates = [{ id: 'g', human: { prompt: '?', context: ['draft'], options: [yes] } }];
    const run = waiting({ gates, postconditions: [{ check: 'asked' }] }, PERMISSIVE, { status: 'failed' });

    const { letThrough, approved } = last(choose(run, 'Yes').run);

    expect({ letThrough, approved }).toEqual({ letThrough: true, approved: {} });
  });
});

test('a visit that ends in `fail` with nothing judged is not a review, whatever earlier visits owe', () => {
  const next = { outcomes: { ok: 'B', fail: 'A' } } as const;
  const postconditions = [{ check: 'asked' }];
  let run = started(workflowOf([{ id: 'A', postconditions, next }, { id: 'B' }]));
  const fail = () => submit(run, complete(run, {}, { outcome: 'fail', reason: 'no luck' })).run;

  run = submit(run, complete(run), { answer: () => result('failed') }).run;
  run = fail();
  expect(last(run)).toMatchObject({ outcome: 'fail', judged: true });
  run = fail();

  expect(run.owed).toEqual({ A: 1 });
  expect(last(run)).not.toHaveProperty('judged');
});

test('a free result with other keys each time does not escape the escalation of the same refusal', () => {
  const next = { condition: 'result.flag === true', onTrue: 'B', onFalse: null } as const;
  let run = started(workflowOf([{ id: 'A', next }, { id: 'B' }]));

  for (const key of ['one', 'two', 'three', 'four', 'five'])
    run = submit(run, complete(run, { [key]: 1 })).run;

  expect(run).toMatchObject({ status: 'escalated', escalation: { reason: 'refusals' } });
});

/** A run that waits at the gate of its first phase. */
function waiting(
  phase: Partial<PhaseDraft>,
  more: Partial<WorkflowDraft> = {},
  { outcome = 'ok', status = 'passed' }: { outcome?: Outcome; status?: 'passed' | 'failed' } = {},
): Run {
  const gates = [{ id: 'g', human: { prompt: '?', options: [yes] } }];
  const run = started(workflowOf([{ id: 'A', gates, ...phase }, { id: 'B' }], more));
  const answer = (look: { readonly kind: string }) =>
    look.kind === 'handler' ? { ok: true as const, outcome, state: {} } : result(status);
  const evidence = phase.fields === undefined ? { draft: 'one' } : { n: 1 };
  return submit(run, complete(run, evidence), { answer }).run;
}

function choose(run: Run, option: string, status: 'passed' | 'failed' = 'passed') {
  const command = { kind: 'decide', gate: 'g#1', option, shown: 'seen', signature: 's' } as const;
  return submit(run, command, { principal: ADA, shown: 'seen', answer: () => result(status) });
}

function last(run: Run): Completion {
  return run.completions.at(-1) as Completion;
}

test('a phase that may hand in a covered name and does not is routed by what was approved', () => {
  const fields = [{ name: 'share', type: 'number', rule: 'optional' }] as const;
  const next = { condition: 'artifacts.share === 1', onTrue: 'D', onFalse: null } as const;
  const human = { prompt: '?', options: [yes] };
  const phases = [
    { id: 'A', fields, gates: [{ id: 'g', human }] },
    { id: 'B', fields },
    { id: 'C', fields, next },
    { id: 'D' },
  ];
  let run = started(workflowOf(phases));
  run = submit(run, complete(run, { share: 1 })).run;
  run = choose(run, 'Yes').run;
  run = submit(run, complete(run, { share: 2 })).run;

  expect(submit(run, complete(run)).run.phase).toBe('D');
  expect(submit(run, complete(run, { share: 2 })).run.phase).toBeNull();
});
