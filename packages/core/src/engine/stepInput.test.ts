import { describe, expect, test } from 'vitest';
import { successorsOf } from '../model/edges.ts';
import { ADA, complete, phases, result, started, subjectOf, submit, workflowOf } from './fixtures/walks.ts';
import type { Run } from './run.ts';
import { resumeContextOf, stepInputFor } from './stepInput.ts';
import { overviewOf, viewFor } from './viewFor.ts';

const editing = workflowOf(
  [
    { id: 'plan' },
    { id: 'writer', parallel: { key: 'improvementAreas' } },
    {
      id: 'human-gate',
      gates: [
        {
          id: 'human',
          human: {
            prompt: 'Good?',
            options: [{ label: 'Go on' }, { label: 'Again', next: 'plan', requiresInput: true }],
          },
        },
      ],
    },
    { id: 'finalize' },
  ],
  { params: { book: { type: 'string' } } },
);

describe('what a step is given', () => {
  test('is the run, the step and the whole checkpoint [S3.19 S3.23 S3.48]', () => {
    const run = done(started(editing, { book: 'b1' }), { improvementAreas: ['a', 'b'] });

    expect(stepInputFor(run, { item: 'a' })).toEqual({
      runId: 'run-1',
      step: 'writer',
      item: 'a',
      checkpoint: {
        workflowRunId: 'run-1',
        workflowType: 'tested',
        currentStep: 'writer',
        completedSteps: [
          { step: 'plan', completedAt: run.updatedAt, result: { improvementAreas: ['a', 'b'] } },
        ],
        iterationCounts: {},
        results: { plan: { improvementAreas: ['a', 'b'] } },
        parallelResults: {
          a: { status: 'pending', result: null, error: null, retryCount: 0 },
          b: { status: 'pending', result: null, error: null, retryCount: 0 },
        },
        book: 'b1',
        improvementAreas: ['a', 'b'],
      },
    });
  });

  test('tells the second attempt why the first failed [S3.23 S3.40 S3.42]', () => {
    const run = failed(started(editing));

    expect(stepInputFor(run)).toMatchObject({
      retryContext: { error: 'Previous attempt failed: gone', attempt: 2 },
      checkpoint: { pendingRetry: { step: 'plan', error: 'gone', attempt: 1 } },
    });
    expect(stepInputFor(started(editing))).not.toHaveProperty('retryContext');
  });

  test('tells an item of its own failure, and no other item of it [S3.42 S3.53]', () => {
    const run = failed(done(started(editing), { improvementAreas: ['a', 'b'] }), 'a');

    expect(stepInputFor(run, { item: 'a' }).retryContext).toEqual({
      error: 'Previous attempt failed: gone',
      attempt: 2,
    });
    expect(stepInputFor(run, { item: 'b' })).not.toHaveProperty('retryContext');
    expect(() => stepInputFor(run, { item: 'c' })).toThrow('no such item');
  });

  test('has what a human decided, wrote and answered [S3.19 S4.53]', () => {
    const asking = { kind: 'ask', questions: [{ text: 'Which?', options: ['x', 'y'] }] } as const;
    const waiting = atGate();
    const gate = waiting.status === 'waiting' && waiting.wait.for === 'gate' ? waiting.wait.gate : '';
    const again = submit(
      waiting,
      { kind: 'decide', gate, option: 'Again', input: 'shorter', shown: 's', signature: 'x' },
      { principal: ADA, shown: 's' },
    ).run;
    const asked = submit(again, asking).run;
    const answered = submit(asked, { kind: 'answer', question: 1, text: 'x' }, { principal: ADA }).run;

    expect(stepInputFor(answered)).toMatchObject({
      step: 'plan',
      checkpoint: { gateDecision: { gate: 'human', option: 'Again', input: 'shorter' }, iterationCounts: {} },
      note: 'ada chose `Again`: shorter',
      answers: [{ question: 1, text: 'x' }],
    });
  });

  test('is nothing where the run has ended', () => {
    const run = started(workflowOf(phases(1)));

    expect(() => stepInputFor(submit(run, complete(run)).run)).toThrow('ended');
  });
});

describe('what anyone who takes up a run must know', () => {
  test('is where it stands, what came last, what is to be tried again and what failed [S3.22 S3.44 S3.46]', () => {
    const fresh = started(editing);
    const parallel = done(fresh, { improvementAreas: ['a', 'b', 'c'] });
    const some = submit(parallel, complete(parallel, { words: 7 }, { item: 'b' })).run;
    const twice = failed(failed(some, 'a'), 'a');

    expect(resumeContextOf(fresh)).toEqual({
      workflowType: 'tested',
      runId: 'run-1',
      currentStep: 'plan',
      completedSteps: [],
      lastStepOutput: null,
    });
    expect(resumeContextOf(failed(fresh)).pendingRetry).toEqual({ step: 'plan', error: 'gone', attempt: 1 });
    expect(resumeContextOf(twice)).toEqual({
      workflowType: 'tested',
      runId: 'run-1',
      currentStep: 'writer',
      completedSteps: ['plan'],
      lastStepOutput: { improvementAreas: ['a', 'b', 'c'] },
      parallelStatus: { total: 3, completed: 1, failed: ['a'] },
    });
  });
});

test('a hint about the way on can be held against the ways there are [S3.24 fail.15]', () => {
  const workflow = workflowOf([
    {
      id: 1,
      next: { condition: 'result.ok === true', onTrue: 2, onFalse: 1, maxIterations: 2 },
      artifacts: [{ type: 'ok' }],
    },
    { id: 2, next: { outcomes: { ok: 3, fail: 1, _default: 3 } } },
    { id: 3 },
  ]);

  expect([1, 2, 3].map((id) => successorsOf(workflow, id))).toEqual([[2, 1], [3, 1], [null]]);
  expect(successorsOf(editing, 'human-gate')).toEqual(['plan', 'finalize']);
  expect(successorsOf(workflow, 'nowhere')).toEqual([]);
  const run = started(workflow);
  const hinted = submit(run, complete(run, { ok: true }, { target: 3 }));
  expect(hinted.verdict.allowed).toBe(false);
  expect(hinted.run.phase).toBe(1);
});

test('steps are counted in one place, and an iteration is the one the run is in [fail.25]', () => {
  const workflow = workflowOf([
    {
      id: 'refine',
      postconditions: [{ check: 'asked' }],
      next: { outcomes: { ok: 'end', iterate: 'refine' }, maxIterations: 5 },
    },
    { id: 'end' },
  ]);
  const seen: unknown[] = [];
  let run = started(workflow);
  for (const outcome of ['iterate', 'iterate', 'ok'] as const) {
    run = submit(run, complete(run, {}, { outcome }), {
      answer: (look) => {
        seen.push(subjectOf(look).scope.iteration);
        return result('passed');
      },
    }).run;
  }

  expect(seen).toEqual([1, 2, 3]);
  expect(stepInputFor(run).checkpoint).toMatchObject({ iterationCounts: { refine: 2 } });
  expect([viewFor(run, ADA).progress.total, overviewOf(workflow).phases.length]).toEqual([2, 2]);
});

function done(run: Run, evidence: Parameters<typeof complete>[1]): Run {
  return submit(run, complete(run, evidence)).run;
}

function failed(run: Run, item?: string): Run {
  const about = item === undefined ? {} : { item };
  return submit(run, { kind: 'report_failure', phase: run.phase ?? 1, reason: 'gone', ...about }).run;
}

function atGate(): Run {
  const parallel = done(started(editing), { improvementAreas: ['a'] });
  const written = submit(parallel, complete(parallel, {}, { item: 'a' })).run;
  return done(written, {});
}
