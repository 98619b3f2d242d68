import type { JsonObject } from '../json.ts';
import { declaredNames, nameIn } from '../model/names.ts';
import type { HumanGate, Outcome, Phase } from '../model/workflow.ts';
import { withCompletion } from './history.ts';
import { type GateWait, type Result, type Run, resultOf, timesOf } from './run.ts';
import { approvedCheckpointOf, namesGiven, valueAt } from './scope.ts';
import { contestedReason } from './values.ts';

/** A visit that waits, or is about to wait, for a human. */
export interface Visit extends Result {
  readonly phase: Phase;
  readonly outcome: Outcome;
  readonly state: JsonObject;
  readonly by: string;
  readonly at: string;
}

/** The visit that waits at a gate. */
export function visitOf(phase: Phase, wait: GateWait): Visit {
  return { phase, ...resultOf(wait), outcome: wait.outcome, state: wait.state, by: wait.by, at: wait.since };
}

/** Values at the gate's context paths, on the run as it would be; a path that leads nowhere shows as null. */
export function gateContext(run: Run, gate: HumanGate, visit: Visit): JsonObject {
  const checkpoint = shownCheckpoint(asIfTaken(run, visit), visit);
  return Object.fromEntries(gate.context.map((path) => [path, valueAt(checkpoint, path) ?? null]));
}

/**
 * What a yes approves beside the evidence: the whole value of every name in the gate's context. What permissive mode let
 * through is shown, but gives no name a value, approved or not.
 */
export function contextValues(run: Run, gate: HumanGate, visit: Visit): JsonObject {
  const checkpoint = shownCheckpoint(asItWouldBe(run, visit), visit);
  const own = declaredNames(visit.phase);
  const names = [...new Set(gate.context.map(nameIn))].filter((name) => !own.includes(name));
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = valueAt(checkpoint, name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Why a human cannot be shown what the author wants shown: a name in the context is nobody's. */
export function contextProblems(run: Run, visit: Visit): readonly string[] {
  const there = asIfTaken(run, visit);
  const names = new Set((visit.phase.humanGate?.context ?? []).map(nameIn));
  return [...names].flatMap((name) => contestedReason(there, name) ?? []);
}

function shownCheckpoint(there: Run, { phase, evidence }: Visit): JsonObject {
  return approvedCheckpointOf(there, phase, { own: namesGiven(phase, evidence) });
}

/** The run with this visit completed as if strict mode had taken it: a human is shown what was handed in. */
function asIfTaken(run: Run, visit: Visit): Run {
  const { letThrough: _, ...taken } = visit;
  return asItWouldBe(run, taken);
}

/** The run with this visit completed: what a human approves is what a yes would make true. */
function asItWouldBe(run: Run, visit: Visit): Run {
  const completion = {
    phase: visit.phase.id,
    visit: timesOf(run.visits, visit.phase.id) || 1,
    at: visit.at,
    by: visit.by,
    outcome: visit.outcome,
    ...resultOf(visit),
  };
  return {
    ...run,
    state: { ...run.state, ...visit.state },
    completions: withCompletion(run, completion),
  };
}
