import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import type { PhaseDraft } from '../model/draft.ts';
import type { Outcome } from '../model/workflow.ts';
import type { Look } from './command.ts';
import {
  ADA,
  type Circumstances,
  complete,
  result,
  started,
  subjectOf,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import type { Run } from './run.ts';

const WAYS = { outcomes: { ok: 'DONE', fail: 'FIX', iterate: 'ROUND', skip: 'PAST' } } as const;
const ITEMS: readonly PhaseDraft[] = [
  { id: 'LIST', artifacts: [{ type: 'areas' }] },
  { id: 'WRITE', parallel: { key: 'areas' }, next: WAYS },
  { id: 'DONE', next: { to: null } },
  { id: 'FIX', next: { to: null } },
  { id: 'ROUND', next: { to: null } },
  { id: 'PAST', next: { to: null } },
];

describe('parallel items', () => {
  test.each<[string, Readonly<Record<string, Outcome>>, string]>([
    ['one that failed fails the phase', { a: 'fail', b: 'iterate', c: 'ok' }, 'FIX'],
    ['else one that wants another round gets it', { a: 'ok', b: 'iterate', c: 'ok' }, 'ROUND'],
    ['else all is well', { a: 'ok', b: 'ok', c: 'ok' }, 'DONE'],
  ])('keep their outcomes, in whatever order they end: %s [C36 adv.N11]', (_, outcomes, phase) => {
    const orders = [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['b', 'a', 'c'],
    ];
    for (const order of orders) {
      let run = submitted(started(workflowOf(ITEMS)), { areas: ['a', 'b', 'c'] });
      for (const item of order) run = ended(run, item, outcomes[item] as Outcome);
      expect(run.phase).toBe(phase);
    }
  });

  test('are skipped only if all of them are', () => {
    const [list, , ...rest] = ITEMS as [PhaseDraft, PhaseDraft, ...PhaseDraft[]];
    const handled: PhaseDraft = {
      id: 'WRITE',
      parallel: { key: 'areas' },
      work: { kind: 'handler', ref: 'h' },
      next: WAYS,
    };
    const walk = (outcomes: readonly Outcome[]) => {
      let run = submitted(started(workflowOf([list, handled, ...rest])), { areas: ['a', 'b'] });
      outcomes.forEach((outcome, index) => {
        const item = index === 0 ? 'a' : 'b';
        const answer: Circumstances['answer'] = () => ({ ok: true, outcome, state: { [item]: outcome } });
        run = submit(run, complete(run, {}, { item }), { answer }).run;
      });
      return run;
    };

    expect(walk(['skip', 'skip']).phase).toBe('PAST');
    expect(walk(['skip', 'ok']).phase).toBe('DONE');
    expect(walk(['ok', 'skip']).phase).toBe('DONE');
    expect(walk(['fail', 'skip']).phase).toBe('FIX');
    expect(walk(['ok', 'skip']).state).toEqual({ a: 'ok', b: 'skip' });
  });

  test('of which one fails go on: the phase waits for the others', () => {
    const run = submitted(started(workflowOf(ITEMS)), { areas: ['a', 'b'] });
    const failed = ended(run, 'a', 'fail');

    expect(failed).toMatchObject({ phase: 'WRITE', work: { items: { a: { outcome: 'fail' } } } });
    expect(ended(failed, 'b', 'ok').phase).toBe('FIX');
  });

  test('are worked on again when their join is refused', () => {
    const [list, write, ...rest] = ITEMS as [PhaseDraft, PhaseDraft, ...PhaseDraft[]];
    const blocked = { ...write, gates: [{ blockers: [{ check: 'asked' }] }] };
    const first = submitted(started(workflowOf([list, blocked, ...rest])), { areas: ['a', 'b'] });
    const one = ended(first, 'a', 'ok');
    const answer = (look: Look) => result(look.id.startsWith('join:') ? 'failed' : 'passed', 'not enough');

    const refused = submit(one, complete(one, { text: 1 }, { item: 'b' }), { answer });

    expect(refused.verdict.allowed).toBe(false);
    expect(refused.run).toMatchObject({
      phase: 'WRITE',
      work: {
        attempts: 1,
        items: {
          a: { status: 'pending', evidence: null, error: expect.stringContaining('not enough') },
          b: { status: 'pending', evidence: null },
        },
      },
    });
    expect(ended(ended(refused.run, 'a', 'ok'), 'b', 'ok').phase).toBe('DONE');
  });
});

describe('paying with `fail`', () => {
  const looped = workflowOf([
    { id: 'A', postconditions: [{ check: 'asked' }], next: { outcomes: { ok: null, fail: 'B' } } },
    { id: 'B', next: { to: 'A' } },
  ]);
  const failing = { answer: () => result('failed', 'no') };

  test('buys no fresh attempts: they add up over visits that ended in `fail` [adv.N13]', () => {
    const once = submit(started(looped), complete(started(looped)), failing).run;
    const away = submit(once, complete(once, {}, { outcome: 'fail', reason: 'x' })).run;
    const back = submitted(away, {});

    expect(back).toMatchObject({ phase: 'A', work: { attempts: 1 } });
    expect(submit(back, complete(back), failing).run.status).toBe('escalated');
  });

  test('is forgotten after `ok`, and when a human resumes', () => {
    const twice = submit(second(), complete(second()), failing).run;
    const resumed = submit(twice, { kind: 'resume' }, { principal: ADA }).run;
    const left = submit(resumed, complete(resumed, {}, { outcome: 'fail', reason: 'x' })).run;

    expect(resumed).toMatchObject({ status: 'active', work: { attempts: 0 } });
    expect(submitted(left, {}).work.attempts).toBe(0);

    function second(): Run {
      const once = submit(started(looped), complete(started(looped)), failing).run;
      return submitted(submit(once, complete(once, {}, { outcome: 'fail', reason: 'x' })).run, {});
    }
  });

  test('does not move the severity ladder: only visits in which something was judged do [adv.N13]', () => {
    const reviewed = workflowOf([
      {
        id: 'R',
        artifacts: [{ type: 'review' }],
        postconditions: [{ check: 'asked' }],
        next: { outcomes: { ok: null, fail: 'M' } },
      },
      { id: 'M', next: { to: 'R' } },
    ]);
    let run = started(reviewed);
    for (let round = 0; round < 4; round++) {
      run = submit(run, complete(run, {}, { outcome: 'fail', reason: 'x' })).run;
      run = submitted(run, {});
    }
    const visits: unknown[] = [];
    const answer = (look: Look) => {
      visits.push(subjectOf(look).reviews, subjectOf(look).scope.iteration);
      return result('failed');
    };
    const judged = submit(run, complete(run, { review: 1 }), { answer }).run;

    expect(visits).toEqual([1, 5]);

    const again = submitted(submit(judged, complete(judged, {}, { outcome: 'fail', reason: 'x' })).run, {});
    visits.length = 0;
    submit(again, complete(again, { review: 1 }), { answer });
    expect(visits[0]).toBe(2);
  });
});

describe('refusals', () => {
  const workflow = workflowOf([
    { id: 'A', artifacts: [{ type: 'x', schema: { type: 'string' } }] },
    { id: 'B' },
  ]);

  test('that take turns count as the same, and are handed to a human', () => {
    const tries: JsonObject[] = [{}, { x: 1 }, {}, { x: 1 }, {}, { x: 1 }];
    let run = started(workflow);
    for (const evidence of tries) run = submit(run, complete(run, evidence)).run;

    expect(run).toMatchObject({ status: 'escalated', escalation: { reason: 'refusals' } });
  });

  test('that are each another are progress', () => {
    let run = started(workflow);
    for (let type = 0; type < 8; type++) {
      run = submit(run, { kind: 'complete', phase: `wrong ${type}`, evidence: {} }).run;
    }

    expect(run.status).toBe('active');
  });
});

function ended(run: Run, item: string, outcome: Outcome): Run {
  const more = outcome === 'ok' ? {} : { outcome, ...(outcome === 'fail' ? { reason: 'no' } : {}) };
  const decision = submit(run, complete(run, {}, { item, ...more }));
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}

function submitted(run: Run, evidence: JsonObject): Run {
  const decision = submit(run, complete(run, evidence));
  if (!decision.verdict.allowed) throw new Error(JSON.stringify(decision.verdict));
  return decision.run;
}
