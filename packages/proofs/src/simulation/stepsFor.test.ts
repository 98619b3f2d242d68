import type { PhaseDraft } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { workflowOf } from '../check/fixtures/flaws.ts';
import { simulate } from './simulate.ts';

const OPTIONS = { runs: 2, agents: 1, seed: '1' };

test('a line of many phases comes to its end', () => {
  const workflow = workflowOf(phases(301));

  expect(simulate(workflow, OPTIONS)).toMatchObject({ completed: 1, stuck: 0, attempts: 301, bound: null });
});

test('a loop that is gone through as often as the workflow lets it comes to its end', () => {
  const workflow = workflowOf([
    { id: 'A' },
    { id: 'B', next: { outcomes: { ok: null, iterate: 'A' }, maxIterations: 400, onExhausted: null } },
  ]);

  const made = simulate(workflow, { ...OPTIONS, rates: { B: { outcomes: { iterate: 1 } } } });

  expect(made).toMatchObject({ completed: 1, stuck: 0, attempts: 802, bound: null });
});

test('a gate at each of many phases, and an attempt that fails before the one that passes, are counted', () => {
  const gates = [{ id: 'ship', human: { prompt: 'Good?', options: [{ label: 'Yes' }] } }];
  const workflow = workflowOf(phases(120).map((phase) => ({ ...phase, gates })));

  const made = simulate(workflow, {
    ...OPTIONS,
    rates: Object.fromEntries(workflow.phases.map(({ id }) => [id, { pass: [0, 1] }])),
  });

  expect(made).toMatchObject({ completed: 1, attempts: 240, bound: null });
});

test('what leads back without end is given up after steps that grow with the loop', () => {
  const human = { prompt: 'Good?', options: [{ label: 'Yes' }, { label: 'Again', next: '1' }] };
  const workflow = workflowOf([...phases(99), { id: 'LAST', gates: [{ id: 'ship', human }] }]);

  const made = simulate(workflow, { ...OPTIONS, rates: { LAST: { options: { Again: 1 } } } });

  expect(made).toMatchObject({ completed: 0, stuck: 1, bound: { runs: 2, steps: 4400 } });
});

function phases(many: number): PhaseDraft[] {
  return Array.from({ length: many }, (_, at) => ({ id: String(at + 1) }));
}
