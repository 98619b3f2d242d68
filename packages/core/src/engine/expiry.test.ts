import { expect, test } from 'vitest';
import { defineWorkflow } from '../model/defineWorkflow.ts';
import type { PhaseDraft } from '../model/draft.ts';
import type { Target } from '../model/workflow.ts';
import {
  ADA,
  complete,
  ENGINE,
  KNOWN,
  phases,
  result,
  started,
  submit,
  workflowOf,
} from './fixtures/walks.ts';
import type { Run } from './run.ts';
import { viewFor } from './viewFor.ts';

const DAY_LATER = '2026-11-16T12:00:00.000Z';
const options = [
  { label: 'Approve', next: 2 },
  { label: 'Back', next: 1 },
] as const;

/** PLAN (1), behind whose gate 2 is, and 3, to which time leads. */
function drafts(to: number, third: Partial<PhaseDraft> = {}): PhaseDraft[] {
  const timeout = { after: '24h', then: 'route', to };
  const human = { prompt: 'Go on?', options, timeout };
  return phases(3, (at) => {
    if (at === 0) return { gates: [{ id: 'plan', human }], next: { to: 2 } };
    return at === 1 ? { next: { to: null as Target } } : { next: { to: 1 }, ...third };
  });
}

function waiting(third: Partial<PhaseDraft> = {}): Run {
  const run = started(workflowOf(drafts(3, third)));
  return submit(run, complete(run, { plan: 'mine' })).run;
}

test('a gate whose time is up leads where its author said: expired, neither refused nor approved [adv.J9]', () => {
  const late = submit(waiting(), { kind: 'expire' }, { principal: ENGINE, now: DAY_LATER });

  expect(late.events.map(({ type }) => type)).toEqual(['gate_timed_out', 'phase_completed']);
  expect(late.run).toMatchObject({ status: 'active', phase: 3 });
  expect(late.run.completions.map(({ outcome }) => outcome)).toEqual(['expired']);
  expect(viewFor(late.run, ADA).completedPhases).toEqual([]);
  const decided = submit(
    waiting(),
    { kind: 'decide', gate: 'plan#1', option: 'Approve', shown: 'seen', signature: 's' },
    { principal: ADA, shown: 'seen', now: DAY_LATER },
  );
  expect(decided.verdict).toMatchObject({ allowed: false, blockers: [{ code: 'gate_timed_out' }] });
  expect(decided.run).toMatchObject({ status: 'active', phase: 3 });
});

test('where that phase cannot be entered, or time went round too often, a human is asked', () => {
  const closed = waiting({ preconditions: [{ check: 'asked', message: 'no' }] });
  const expire = { kind: 'expire' } as const;
  const how = { principal: ENGINE, now: DAY_LATER, answer: () => result('failed') };

  expect(submit(closed, expire, how).run).toMatchObject({
    status: 'escalated',
    escalation: { reason: 'gate_timed_out' },
  });
  const often = { ...waiting(), visits: { 1: 10, 3: 10 } } as Run;
  expect(submit(often, expire, how).run).toMatchObject({ status: 'escalated' });
  const outside = [{ path: 'x', how: 'added' as const }];
  const measured = { ...waiting(), work: { ...waiting().work, tree: 't' } } as Run;
  const answer = () => ({ ok: true as const, tree: 'u', outside });
  expect(submit(measured, expire, { ...how, answer }).run).toMatchObject({ status: 'escalated' });
});

test.each([
  ['where the yes itself leads', drafts(2), /leads to `2`, where its yes leads too/],
  [
    'to what leads there by itself',
    drafts(3, { next: { to: 2 } }),
    /and from there to `2`, where only its yes/,
  ],
  [
    'to what a yes reaches by itself',
    drafts(3).map((phase, at) => (at === 1 ? { ...phase, next: { to: 3 } } : phase)),
    /leads to `3`, where its yes leads too/,
  ],
  [
    'to the end of the run, where a yes ends it',
    [
      {
        ...(drafts(3)[0] as PhaseDraft),
        gates: [
          {
            id: 'plan',
            human: {
              prompt: 'Done?',
              options: [{ label: 'Yes' }, { label: 'Fix', next: 2 }],
              timeout: { after: '1h', then: 'route', to: 2 },
            },
          },
        ],
        next: { to: null },
      },
      { id: 2, name: 'Fix', instructions: 'x', next: { to: null } },
    ] as PhaseDraft[],
    /and from there to the end of the run/,
  ],
])('nobody approves by waiting: a timeout %s is a problem [adv.J10]', (_, wrong, message) => {
  const defined = defineWorkflow({ id: 'tested', phases: wrong }, { checks: KNOWN });

  const problems = defined.ok ? [] : defined.problems;
  expect(problems.map(({ code }) => code)).toContain('way_around_gate');
  expect(problems.map((problem) => problem.message).join('\n')).toMatch(message);
});

test.each([
  [{ after: '1h', then: 'route' }, /needs `to`/],
  [{ after: '1h', then: 'route', to: 9 }, /leads to `9`, which is not defined/],
  [{ after: '1h', then: 'approve' }, /nothing approves by itself/],
  [{ after: '1h', then: 'park', to: 2 }, /goes with `then: route`/],
])('a timeout that says %o is a problem', (timeout, message) => {
  const human = { prompt: 'Go on?', options, timeout };
  const wrong = phases(3, (at) => (at === 0 ? { gates: [{ human }] } : {}));
  const defined = defineWorkflow({ id: 'tested', phases: wrong }, { checks: KNOWN });

  expect(defined.ok ? [] : defined.problems.map((problem) => problem.message).join('\n')).toMatch(message);
});
