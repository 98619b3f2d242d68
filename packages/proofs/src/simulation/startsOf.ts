import type { Item, Run } from '@phasegate/core/engine';
import type { JsonObject, Phase, Workflow } from '@phasegate/core/model';
import type { Abstraction } from '../check/abstractWorkflow.ts';
import { startMoves } from '../check/explore.ts';
import { oneOf, type Random } from './random.ts';
import type { SettledPhase } from './rates.ts';

/** Makes simulated runs of one workflow. */
export interface Starts {
  readonly abstraction: Abstraction;
  /** A run in its first phase, with the items of its parallel phases drawn. */
  start(random: Random): Run;
  /** Params without a default, of which each value is as likely. */
  readonly drawn: readonly string[];
}

/** Prepares starts; null where its params let no run start. */
export function startsOf(
  workflow: Workflow,
  abstraction: Abstraction,
  rates: ReadonlyMap<string, SettledPhase>,
): Starts | null {
  // Each parallel phase reads a list of its own, as they differ in length.
  const phases = abstraction.workflow.phases.map(
    (phase): Phase =>
      phase.parallel === null ? phase : { ...phase, parallel: { ...phase.parallel, key: keyOf(phase) } },
  );
  const simulated = { ...abstraction.workflow, phases };
  const runs = paramsOf(workflow, abstraction)
    .flatMap((params) => startMoves({ ...abstraction, workflow: simulated, lists: new Map() }, params))
    .map(({ run }) => run);
  if (runs.length === 0) return null;
  const parallel = phases.filter((phase) => phase.parallel !== null);
  return {
    abstraction: { ...abstraction, workflow: simulated },
    drawn: [...abstraction.tried].filter((name) => workflow.params[name]?.default === undefined),
    start(random) {
      const run = oneOf(runs, random);
      if (parallel.length === 0) return run;
      const state: Record<string, readonly string[]> = {};
      for (const phase of parallel) {
        const count = oneOf(rates.get(String(phase.id))?.items ?? [1], random);
        state[keyOf(phase)] = Array.from({ length: count }, (_, place) => `item ${place + 1}`);
      }
      const names = parallel.some(({ id }) => id === run.phase)
        ? state[keyOf({ id: run.phase ?? '' })]
        : undefined;
      const items =
        names === undefined ? null : Object.fromEntries(names.map((name) => [name, itemOf(name)]));
      return { ...run, state: state as JsonObject, work: { ...run.work, items } };
    },
  };
}

function keyOf({ id }: Pick<Phase, 'id'>): string {
  // A path into the checkpoint is split at dots, and ids may have any letter.
  return `items_of_${[...String(id)].map((letter) => letter.codePointAt(0)?.toString(16)).join('_')}`;
}

function itemOf(name: string): Item {
  return { status: 'pending', value: name, evidence: null, attempts: 0, error: null };
}

/** Params as a run gets them that is started with nothing said; of what has no default each value that is tried. */
function paramsOf({ params }: Workflow, { starts, tried }: Abstraction): readonly JsonObject[] {
  const defaults = [...tried].flatMap((name): [string, JsonObject[string]][] => {
    const value = params[name]?.default;
    return value === undefined ? [] : [[name, value]];
  });
  const kept = starts.map((start) => ({ ...start, ...Object.fromEntries(defaults) }));
  return [...new Map(kept.map((start) => [JSON.stringify(Object.entries(start).sort()), start])).values()];
}
