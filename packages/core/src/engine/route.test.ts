import { describe, expect, test } from 'vitest';
import { complete, phases, result, started, submit, workflowOf } from './fixtures/walks.ts';
import type { Run } from './run.ts';

const review = {
  condition: 'result.decision === "approved"',
  onTrue: 3,
  onFalse: 1,
  maxIterations: 3,
} as const;
const reviewed = () => started(workflowOf(phases(3, (index) => (index === 1 ? { next: review } : {}))));

describe('a condition', () => {
  test('routes by what the phase returned [S3.16 S3.59]', () => {
    const run = submit(reviewed(), complete(reviewed())).run;

    expect(submit(run, complete(run, { decision: 'approved' })).run.phase).toBe(3);
    expect(submit(run, complete(run, { decision: 'rejected' })).run.phase).toBe(1);
  });

  test('compares numbers at nested paths with the checkpoint [S3.61 fail.26]', () => {
    const route = {
      condition: 'result.metrics.delta >= checkpoint.threshold',
      onTrue: null,
      onFalse: 1,
      maxIterations: 3,
    } as const;
    const run = started(
      workflowOf(
        phases(1, () => ({ next: route })),
        { params: { threshold: { type: 'number' } } },
      ),
      { threshold: 0.5 },
    );

    expect(submit(run, complete(run, { metrics: { delta: 0.5 } })).run.status).toBe('completed');
    expect(submit(run, complete(run, { metrics: { delta: 0.4 } })).run).toMatchObject({
      status: 'active',
      phase: 1,
    });
  });

  test('that names something missing is an error, not false, and no attempt', () => {
    const run = submit(reviewed(), complete(reviewed())).run;

    const decision = submit(run, complete(run, {}));

    expect(decision.verdict).toMatchObject({ blockers: [{ code: 'condition_unanswerable' }] });
    expect(decision.run).toMatchObject({ phase: 2, work: { attempts: 0 } });
  });

  test('may be a function, whose answer is looked up as a fact', () => {
    const next = { condition: { ref: 'steps/1/next', source: '() => …' }, onTrue: null, onFalse: 2 } as const;
    const run = started(
      workflowOf(
        phases(2, (index) => (index === 0 ? { next } : {})),
        { code: 'c', module: 'm.ts' },
      ),
    );

    expect(submit(run, complete(run), { answer: () => ({ ok: true, value: true }) }).run.status).toBe(
      'completed',
    );
    expect(submit(run, complete(run), { answer: () => ({ ok: true, value: false }) }).run.phase).toBe(2);
    expect(
      submit(run, complete(run), { answer: () => ({ ok: false, reason: 'threw' }) }).verdict,
    ).toMatchObject({
      blockers: [{ code: 'condition_unanswerable' }],
    });
  });
});

describe('a loop', () => {
  test('takes its way back at most maxIterations times and then needs a human [S3.11 C11 fail.26]', () => {
    const { run, backs } = rejectUntilItStops(reviewed());

    expect(backs).toBe(3);
    expect(run).toMatchObject({
      status: 'escalated',
      phase: 2,
      escalation: { reason: 'iterations' },
      iterations: { 2: 3 },
    });
  });

  test('follows onExhausted where the author gave one [C11]', () => {
    const next = { ...review, onExhausted: 3 } as const;
    const run = started(workflowOf(phases(3, (index) => (index === 1 ? { next } : {}))));

    expect(rejectUntilItStops(run).run).toMatchObject({ status: 'active', phase: 3 });
  });

  test('without a bound ends after ten visits of its target', () => {
    const next = { condition: 'result.decision === "approved"', onTrue: 3, onFalse: 1 } as const;
    const { run, backs } = rejectUntilItStops(
      started(workflowOf(phases(3, (index) => (index === 1 ? { next } : {})))),
    );

    expect(backs).toBe(9);
    expect(run).toMatchObject({ status: 'escalated', visits: { 1: 10 } });
  });

  test('re-enters a completed phase, which is then current and not completed [C21 S0.11]', () => {
    let run = submit(reviewed(), complete(reviewed())).run;
    run = submit(run, complete(run, { decision: 'no' })).run;

    expect(run).toMatchObject({ phase: 1, visits: { 1: 2, 2: 1 } });
  });

  function rejectUntilItStops(first: Run): { run: Run; backs: number } {
    let run = first;
    let backs = 0;
    for (let step = 0; step < 60 && run.status === 'active' && run.phase !== 3; step++) {
      const before = run.phase;
      run = submit(run, complete(run, { decision: 'rejected' })).run;
      if (before === 2 && run.phase === 1) backs++;
    }
    return { run, backs };
  }
});

describe('outcomes', () => {
  const outcomes = { ok: 2, iterate: 1, fail: 3 } as const;
  const mapped = () =>
    started(
      workflowOf(
        phases(3, (index) =>
          index === 0 ? { next: { outcomes }, postconditions: [{ check: 'asked' }] } : {},
        ),
      ),
    );

  test('lead where the map says [S4.5 S4.7 S4.39]', () => {
    expect(submit(mapped(), complete(mapped())).run.phase).toBe(2);
    expect(submit(mapped(), complete(mapped(), {}, { outcome: 'iterate' })).run.phase).toBe(1);
    expect(submit(mapped(), complete(mapped(), {}, { outcome: 'fail', reason: 'broken' })).run.phase).toBe(3);
  });

  test('an outcome the map lacks follows _default, or is refused [S4.6]', () => {
    const only = started(
      workflowOf(phases(2, (index) => (index === 0 ? { next: { outcomes: { ok: 2 } } } : {}))),
    );
    const fallback = started(
      workflowOf(phases(3, (index) => (index === 0 ? { next: { outcomes: { ok: 2, _default: 3 } } } : {}))),
    );

    expect(submit(only, complete(only, {}, { outcome: 'fail', reason: 'x' })).verdict).toMatchObject({
      blockers: [{ code: 'outcome_not_allowed' }],
    });
    expect(submit(fallback, complete(fallback, {}, { outcome: 'fail', reason: 'x' })).run.phase).toBe(3);
  });

  test('fail needs a reason, and neither evidence nor checks', () => {
    const failing = { answer: () => result('failed') };

    expect(submit(mapped(), complete(mapped(), {}, { outcome: 'fail' }), failing).verdict).toMatchObject({
      blockers: [{ code: 'reason_required' }],
    });
    expect(
      submit(mapped(), complete(mapped(), {}, { outcome: 'fail', reason: 'broken' }), failing).run.phase,
    ).toBe(3);
    expect(submit(mapped(), complete(mapped(), {}, { outcome: 'iterate' }), failing).verdict.allowed).toBe(
      false,
    );
  });

  test('an agent cannot report skip: that comes from handlers only', () => {
    const run = started(
      workflowOf(phases(3, (index) => (index === 0 ? { next: { outcomes: { ok: 2, skip: 3 } } } : {}))),
    );

    expect(submit(run, complete(run, {}, { outcome: 'skip' })).verdict).toMatchObject({
      blockers: [{ code: 'outcome_not_allowed', message: expect.stringMatching(/it has one for `ok`$/u) }],
    });
  });

  test('of a handler decide the way, and its updates become state [S4.8 S4.9 S4.10 S4.40]', () => {
    const handled = started(
      workflowOf(
        phases(3, (index) =>
          index === 0
            ? { work: { kind: 'handler', ref: 'steps/1/handler' }, next: { outcomes: { ok: 2, skip: 3 } } }
            : {},
        ),
        { code: 'c', module: 'm.ts' },
      ),
    );
    const answers = { ok: true, outcome: 'skip', state: { iteration: 2 } } as const;

    const skipped = submit(handled, complete(handled), { answer: () => answers }).run;
    const threw = submit(handled, complete(handled), {
      answer: () => ({ ok: false, reason: 'boom', timedOut: false }),
    });

    expect(skipped).toMatchObject({ phase: 3, state: { iteration: 2 } });
    expect(threw.verdict).toMatchObject({ blockers: [{ code: 'handler_failed' }] });
  });

  test('of a handler that no map has a way for is refused, and never passes a gate or a failing check', () => {
    const human = { prompt: 'Ship?', options: [{ label: 'Yes' }] };
    const run = started(
      workflowOf(
        phases(2, (index) =>
          index === 0
            ? {
                work: { kind: 'handler', ref: 'steps/1/handler' },
                gates: [{ human }],
                postconditions: [{ check: 'asked' }],
              }
            : {},
        ),
        { code: 'c', module: 'm.ts' },
      ),
    );

    for (const outcome of ['fail', 'skip', 'iterate'] as const) {
      const decision = submit(run, complete(run), { answer: () => ({ ok: true, outcome, state: {} }) });

      expect(decision.verdict).toMatchObject({ blockers: [{ code: 'outcome_not_allowed' }] });
      expect(decision.run).toMatchObject({ phase: 1, work: { attempts: 1 } });
    }
    expect(submit(run, complete(run, {}, { outcome: 'ok' })).verdict).toMatchObject({
      blockers: [
        { code: 'outcome_not_allowed', message: expect.stringContaining('handler of phase `1` decides') },
      ],
    });
  });

  test('of a handler without a way is refused before a human is asked for a yes that leads nowhere [adv.L4]', () => {
    const gated = (options: readonly { label: string; next?: number }[]) =>
      started(
        workflowOf(
          phases(2, (index) =>
            index === 0
              ? {
                  work: { kind: 'handler', ref: 'steps/1/handler' },
                  gates: [{ human: { prompt: 'Ship?', options } }],
                  next: { outcomes: { ok: 2 } },
                }
              : {},
          ),
          { code: 'c', module: 'm.ts' },
        ),
      );
    const skip = { answer: () => ({ ok: true, outcome: 'skip', state: {} }) as const };

    const run = gated([{ label: 'Yes' }, { label: 'Again', next: 1 }]);
    expect(submit(run, complete(run), skip)).toMatchObject({
      verdict: { blockers: [{ code: 'outcome_not_allowed' }] },
      run: { status: 'active', work: { attempts: 1 } },
    });
    const free = gated([{ label: 'On', next: 2 }]);
    expect(submit(free, complete(free), skip).run.status).toBe('waiting');
  });

  test('a target the agent expects and the engine does not is refused', () => {
    const run = started(workflowOf(phases(3)));

    expect(submit(run, complete(run, {}, { target: 3 })).verdict).toMatchObject({
      blockers: [{ code: 'not_the_next_phase' }],
    });
    expect(submit(run, complete(run, {}, { target: 2 })).run.phase).toBe(2);
  });
});

describe('a parallel phase', () => {
  const areas = { params: { areas: { type: 'list' } } } as const;
  const parallel = () =>
    started(
      workflowOf(
        phases(2, (index) =>
          index === 0
            ? { parallel: { key: 'areas' }, postconditions: [{ check: 'asked', message: 'no change' }] }
            : {},
        ),
        areas,
      ),
      { areas: ['a', 'b'] },
    );

  test('is complete when every item is, with the results joined [S3.19 S3.21 S3.49 S3.54]', () => {
    const one = submit(parallel(), complete(parallel(), { n: 1 }, { item: 'a' })).run;
    const two = submit(one, complete(one, { n: 2 }, { item: 'b' })).run;

    expect(one).toMatchObject({
      phase: 1,
      work: { items: { a: { status: 'completed' }, b: { status: 'pending' } } },
    });
    expect(two.phase).toBe(2);
    expect(two.completions[0]?.evidence).toEqual({ items: { a: { n: 1 }, b: { n: 2 } } });
  });

  test('retries only the failed item, which needs a human after its second failure [S3.53]', () => {
    const failed = { answer: () => result('failed') };
    const once = submit(parallel(), complete(parallel(), {}, { item: 'a' }), failed).run;
    const other = submit(once, complete(once, {}, { item: 'b' })).run;
    const twice = submit(other, complete(other, {}, { item: 'a' }), failed).run;

    expect(once).toMatchObject({
      status: 'active',
      work: { items: { a: { status: 'pending', attempts: 1, error: 'no change' } } },
    });
    expect(twice).toMatchObject({
      status: 'escalated',
      work: { items: { a: { status: 'failed' }, b: { status: 'completed' } } },
    });
  });

  test('refuses a missing, unknown or finished item', () => {
    const one = submit(parallel(), complete(parallel(), {}, { item: 'a' })).run;

    expect(submit(one, complete(one)).verdict).toMatchObject({
      blockers: [{ code: 'item_required', nextAction: { act: 'complete_phase', item: 'b' } }],
    });
    expect(submit(one, complete(one, {}, { item: 'z' })).verdict).toMatchObject({
      blockers: [{ code: 'item_unknown' }],
    });
    expect(submit(one, complete(one, {}, { item: 'a' })).verdict).toMatchObject({
      blockers: [{ code: 'item_done' }],
    });
  });

  test('cannot be entered without a list of items', () => {
    const run = () =>
      started(
        workflowOf(
          phases(2, (index) => (index === 0 ? { parallel: { key: 'areas' } } : {})),
          areas,
        ),
        {},
      );

    expect(run).toThrow(/items_invalid/);
  });
});

describe('a way that is taken when a loop is exhausted', () => {
  test('and leads back itself is not taken for ever [C11]', () => {
    const route = {
      condition: 'result.good === true',
      onTrue: null,
      onFalse: 2,
      maxIterations: 1,
      onExhausted: 1,
    };
    let run = started(workflowOf(phases(2, (index) => (index === 1 ? { next: route } : {}))));

    for (let step = 0; step < 100 && run.status === 'active'; step++) {
      run = submit(run, complete(run, { good: false })).run;
    }

    expect(run).toMatchObject({ status: 'escalated', escalation: { reason: 'iterations' } });
    expect(run.visits['1']).toBe(10);
  });
});

test('a phase called like part of an object is counted like any other', () => {
  const [first, second] = phases(2);
  const route = { condition: 'result.good === true', onTrue: null, onFalse: 'toString', maxIterations: 2 };
  const run = started(
    workflowOf([
      { ...first, id: 'toString' },
      { ...second, id: 'valueOf', next: route },
    ]),
  );
  const there = submit(run, complete(run)).run;

  const { run: after } = submit(there, complete(there, { good: false }));

  expect(after).toMatchObject({ status: 'active', phase: 'toString' });
  expect(Object.entries(after.visits)).toEqual([
    ['toString', 2],
    ['valueOf', 1],
  ]);
  expect(Object.entries(after.iterations)).toEqual([['valueOf', 1]]);
});
