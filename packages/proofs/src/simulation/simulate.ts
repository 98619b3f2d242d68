import type { Workflow } from '@phasegate/core/model';
import { PhasegateError } from '@phasegate/core/model';
import { abstractionOf } from '../check/abstractWorkflow.ts';
import { Floor } from './floor.ts';
import { rateProblems } from './rateProblems.ts';
import type { Rates, RecordedRates } from './rates.ts';
import { settleRates } from './settleRates.ts';
import type { Simulation } from './simulation.ts';
import { type Starts, startsOf } from './startsOf.ts';
import { stepsFor } from './stepsFor.ts';
import { Tally } from './tally.ts';

/** What is simulated. */
export interface SimulateOptions {
  readonly runs: number;
  readonly agents: number;
  readonly seed: string;
  /** What is known or wished; it goes before what was recorded. */
  readonly rates?: Rates;
  readonly recorded?: RecordedRates;
  /** Attempts and decisions, those about single items left out, after which a run is given up as stuck; by default as many as the workflow may ask for. */
  readonly steps?: number;
  /** Told now and then how many runs go no further. */
  progress?(ended: number): void;
}

/** Combinations of params that are looked at. */
const MAX_PARAMS = 1000;

/**
 * Simulates many runs with the engine itself: agents take runs from a queue and stay with each until it goes no further.
 * What depends on evidence is drawn by its rate. The same seed gives the same result.
 */
export function simulate(workflow: Workflow, options: SimulateOptions): Simulation {
  const { runs, agents, seed, rates: given = {}, recorded = null, steps = stepsFor(workflow) } = options;
  const counts = { runs, agents, steps };
  const problems = [
    ...Object.entries(counts).flatMap(([name, count]) =>
      Number.isSafeInteger(count) && count > 0
        ? []
        : [`\`${name}\` is a whole number from 1, not \`${count}\``],
    ),
    ...rateProblems(workflow, given).map(({ message }) => message),
  ];
  if (problems.length > 0) throw new PhasegateError('usage', problems.join('; '));
  const abstraction = abstractionOf(workflow, MAX_PARAMS);
  const { phases: rates, inputs } = settleRates(workflow, abstraction, { given, recorded });
  const starts = startsOf(workflow, abstraction, rates);
  if (starts === null) {
    const message = `no run of \`${workflow.id}\` can start with the params it has by default`;
    throw new PhasegateError('usage', message);
  }
  const tally = new Tally(workflow);
  const { progress } = options;
  const floor = new Floor({ ...counts, seed, starts, tally, rates, ...(progress && { progress }) });
  const span = floor.work();
  const notes = notesOn(workflow, starts, recorded);
  return tally.report({ ...counts, seed, span, recorded: recorded?.runs ?? 0, inputs, notes });
}

function notesOn(workflow: Workflow, { drawn }: Starts, recorded: RecordedRates | null): readonly string[] {
  const ids = new Set(workflow.phases.map(({ id }) => String(id)));
  const gone = Object.keys(recorded?.phases ?? {}).filter((id) => !ids.has(id));
  const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  return [
    ...(drawn.length === 0 ? [] : [`each value of ${listed(drawn)} is as likely, as there is no default`]),
    ...(gone.length === 0 ? [] : [`recorded and no longer in the workflow, so left out: ${listed(gone)}`]),
    ...(workflow.templates === null ? [] : ['phases that a run makes from its source are not simulated']),
  ];
}
