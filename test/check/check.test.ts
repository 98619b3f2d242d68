import type { Workflow } from '@phasegate/core';
import type { HumanGate } from '@phasegate/core/model';
import { expect, test } from 'vitest';
import { cases } from '../tier.ts';
import { noTally, tryCase, tryPlanted } from './cases.ts';

test('what the check says of a workflow is what the engine does with its runs, whatever the world answers [adv.H4]', () => {
  const tally = noTally();
  const seeds = cases({ quick: 30, full: 2000, long: 20_000 });

  for (let seed = 1; seed <= seeds; seed++) tryCase(seed, tally, 150);

  expect(tally.wrong).toEqual([]);
  // A test that looked at nothing proves nothing.
  expect(tally.workflows).toBeGreaterThan(0.24 * seeds);
  expect(tally.walks).toBeGreaterThan(1.2 * seeds);
  expect(tally.ended).toBeGreaterThan(0.7 * seeds);
  expect(tally.led).toBeGreaterThan(0.1 * seeds);
  expect(tally.stuck).toBeGreaterThan(0.1 * seeds);
  expect(tally.replayed).toBeGreaterThan(0.2 * seeds);
});

/** Each with a seed near one that shows it, so that few are tried for nothing. */
const MISTAKES: readonly [string, number, (workflow: Workflow) => Workflow][] = [
  ['no gate is required', 195, (workflow) => withGates(workflow, (gate) => ({ ...gate, required: false }))],
  [
    'a no counts as a yes',
    335,
    (workflow) =>
      withGates(workflow, (gate) => ({
        ...gate,
        options: gate.options.map((option) => (option.next == null ? option : { ...option, approves: true })),
      })),
  ],
  [
    'a yes lasts, whatever is handed in afterwards',
    330,
    (workflow) => ({
      ...withGates(workflow, (gate) => ({ ...gate, context: [] })),
      phases: withGates(workflow, (gate) => ({ ...gate, context: [] })).phases.map((phase) => ({
        ...phase,
        evidence: { fields: [], artifacts: [] },
      })),
    }),
  ],
];

test.each(MISTAKES)('walks show it where the check reads promises wrongly: %s', (_, first, plant) => {
  const tally = noTally();

  for (let seed = first; seed <= 400 && tally.wrong.length === 0; seed++) tryPlanted(seed, tally, plant);

  expect(tally.wrong).not.toEqual([]);
});

function withGates(workflow: Workflow, change: (gate: HumanGate) => HumanGate): Workflow {
  const phases = workflow.phases.map((phase) =>
    phase.humanGate === null ? phase : { ...phase, humanGate: change(phase.humanGate) },
  );
  return { ...workflow, phases };
}
