import { expect, test } from 'vitest';
import { workflowOf } from '../check/fixtures/flaws.ts';
import { rateProblems } from './rateProblems.ts';

const workflow = workflowOf([
  {
    id: 'PLAN',
    gates: [
      {
        id: 'ok',
        human: { prompt: 'Good?', options: [{ label: 'Approve' }, { label: 'Reject', next: null }] },
      },
    ],
  },
  { id: 'BUILD', next: { outcomes: { ok: null, fail: 'BUILD' }, maxIterations: 1 } },
]);

test('everything wrong with rates is said at once, each with its place', () => {
  const problems = rateProblems(workflow, {
    PLAM: {},
    PLAN: {
      pass: [0.5, 1.5],
      minutes: -1,
      options: { Aprove: 0.2, Approve: 0.9 },
      resume: 0.7,
      stop: 0.4,
      items: 3,
      condition: 0.5,
    },
    BUILD: { outcomes: { ok: 0.5, fail: 0.2 }, minutes: [], decide_minutes: 5, blocked: Number.NaN },
  });

  expect(problems.map(({ path, code, message }) => `${path.join('.')} ${code}: ${message}`)).toEqual([
    'PLAM unknown_phase: there is no phase `PLAM` (did you mean `PLAN`?)',
    'PLAN.pass.1 bad_value: `pass` is a share from 0 to 1, not `1.5`',
    'PLAN.minutes bad_value: `minutes` are from 0 to 5256000, not `-1`',
    'PLAN.stop bad_value: `resume` and `stop` add up to 1.1, which is over 1',
    'PLAN.items no_effect: phase `PLAN` has no items',
    'PLAN.condition no_effect: phase `PLAN` has no condition on its route',
    'PLAN.options.Aprove unknown_option: there is no option `Aprove` (did you mean `Approve`?)',
    'PLAN.options bad_value: the shares of `options` add up to 1.1, which is over 1',
    'BUILD.minutes bad_value: `minutes` is an empty list',
    'BUILD.blocked bad_value: `blocked` is a share from 0 to 1, not `NaN`',
    'BUILD.decide_minutes no_effect: phase `BUILD` has no human gate',
    'BUILD.outcomes bad_value: the shares of `outcomes` add up to 0.7; the rest is missing',
  ]);
});

test('shares that leave something over, and the ends of what is allowed, are fine', () => {
  expect(
    rateProblems(workflow, {
      PLAN: { pass: 0, minutes: 0, options: { Approve: 0.9 }, resume: 0.6, stop: 0.4 },
      BUILD: { pass: 1, outcomes: { fail: 0.25 } },
    }),
  ).toEqual([]);
});
