import type { Workflow } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { FULL } from '../../../../test/tier.ts';
import { workflowOf } from '../check/fixtures/flaws.ts';
import type { Rates, RecordedRates } from './rates.ts';
import { simulate } from './simulate.ts';
import type { Simulation } from './simulation.ts';

const checked = { postconditions: [{ check: 'review_is_complete' }] };
const fan = workflowOf([
  { id: 'A', artifacts: [{ type: 'chapters' }] },
  { id: 'B', parallel: { key: 'chapters' }, ...checked },
]);

test('what comes of a phase with items is drawn once, however many there are', () => {
  const workflow = workflowOf([
    { id: 'A', artifacts: [{ type: 'chapters' }] },
    { id: 'B', parallel: { key: 'chapters' }, next: { outcomes: { ok: null, fail: 'C' } } },
    { id: 'C' },
  ]);

  const { phases } = simulated(workflow, { B: { items: 5, outcomes: { fail: 0.5 } } });

  expect(Math.abs((phases[2]?.visits ?? 0) - 0.5)).toBeLessThan(0.07);
});

test('work on items that was begun before the run was handed to a human counts for nothing', () => {
  const rates: Rates = { B: { items: 4, minutes: [1, 5, 9], blocked: 0.3, resume: 1, resume_minutes: 1 } };

  const { completed, utilisation } = simulated(fan, rates, 4);

  expect(completed).toBe(1);
  expect(utilisation).toBeLessThanOrEqual(1);
});

test.runIf(FULL)('a run with more items than steps is not given up', () => {
  const { completed, attempts, bound } = simulated(fan, { B: { items: 1000 } }, 1, 2);

  expect({ completed, attempts, bound }).toEqual({ completed: 1, attempts: 1001, bound: null });
});

test('waiting for answers takes time and is not work', () => {
  const asked: RecordedRates = {
    runs: 1,
    phases: {
      A: {
        attempts: [
          { passed: 1, n: 1 },
          { passed: 0, n: 0 },
        ],
        minutes: [{ work: 10, asked: 30 }],
        blocked: 0,
        items: [],
        outcomes: { ok: 1 },
        condition: { yes: 0, no: 0 },
        options: {},
        undecided: 0,
        decideMinutes: [],
        escalations: { n: 0, resumed: 0, stopped: 0 },
        resumeMinutes: [],
      },
    },
  };

  const { minutes, utilisation, time } = simulate(workflowOf([{ id: 'A' }]), {
    runs: 100,
    agents: 1,
    seed: '1',
    recorded: asked,
  });

  expect(minutes?.p50).toBe(40);
  expect(utilisation).toBe(0.25);
  expect(time.map(({ kind, share }) => [kind, share])).toEqual([
    ['questions', 0.75],
    ['work', 0.25],
  ]);
});

test('what shares leave over goes to the options that are not named, and to `ok`', () => {
  const options = [{ label: 'Yes' }, { label: 'Again', next: 'A' }, { label: 'No', next: null }];
  const workflow = workflowOf([
    { id: 'A', gates: [{ id: 'ship', human: { prompt: 'Good?', options } }] },
    { id: 'B', next: { outcomes: { ok: null, fail: null, iterate: 'A' }, maxIterations: 1 } },
  ]);

  const { inputs } = simulated(workflow, { A: { options: { Yes: 0.5 } }, B: { outcomes: { fail: 0.25 } } });

  expect(inputs.find(({ rate }) => rate === 'options')?.value).toEqual({ Yes: 0.5, Again: 0.25, No: 0.25 });
  expect(inputs.find(({ rate }) => rate === 'outcomes')?.value).toEqual({ fail: 0.25, ok: 0.75 });
});

test('a condition that nothing is known of takes the way that does not lead back', () => {
  const back = { condition: 'again === true', onTrue: 'A', onFalse: null, maxIterations: 3 };
  const workflow = workflowOf([{ id: 'A', artifacts: [{ type: 'again' }], next: back }]);

  expect(simulated(workflow, {})).toMatchObject({ completed: 1, attempts: 1 });
});

test('a workflow that its default params keep from starting cannot be simulated', () => {
  const full = { check: 'expression', with: { condition: "params.mode === 'full'" } };
  const of = (mode: object) => workflowOf([{ id: 'A', preconditions: [full] }], { params: { mode } });

  expect(() => simulated(of({ choices: ['full', 'quick'], default: 'quick' }), {})).toThrow(
    'no run of `flawed` can start with the params it has by default',
  );
  expect(simulated(of({ choices: ['full', 'quick'], required: true }), {})).toMatchObject({ completed: 1 });
});

test('in permissive mode a failed check keeps no run from going on', () => {
  const workflow = workflowOf([{ id: 'A', ...checked }], { enforcement: { mode: 'permissive' } });

  expect(simulated(workflow, { A: { pass: 0 } })).toMatchObject({ completed: 1 });
});

function simulated(workflow: Workflow, rates: Rates, agents = 1, runs = 1000): Simulation {
  return simulate(workflow, { runs, agents, seed: '1', rates });
}
