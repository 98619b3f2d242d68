import type { Json, JsonObject } from '../json.ts';
import { own } from '../json.ts';
import { coveredAt, declaredNames, ENGINE_FIELDS, evidenceNamesOf, hasFreeResult } from '../model/names.ts';
import type { Phase, PhaseId } from '../model/workflow.ts';
import type { Subject } from './command.ts';
import { over } from './history.ts';
import { knownNames } from './knownNames.ts';
import { type Completion, type Item, type Run, timesOf } from './run.ts';
import {
  approvedValues,
  artifactValues,
  declaredValues,
  freeHolders,
  freeValues,
  givesNames,
  resultsOf,
} from './values.ts';

/** What is being judged, beside the run itself. */
export interface Judged {
  readonly phase: Phase;
  /** Absent where nothing has been submitted yet, so that a condition on `result` is an error and not a guess. */
  readonly evidence?: JsonObject;
  readonly item?: Item;
}

/** The roots a condition may look at (design 4a, "Names in conditions"). */
export function scopeFor(run: Run, judged: Judged): JsonObject {
  const { phase, evidence, item } = judged;
  const values = valuesFor(run, judged);
  const scope: Record<string, Json> = {
    artifacts: values.artifacts,
    approved: values.approved,
    params: run.params,
    state: run.state,
    checkpoint: checkpointFrom(run, values.artifacts),
    iteration: timesOf(run.visits, phase.id) || 1,
  };
  if (evidence !== undefined) {
    for (const artifact of phase.evidence.artifacts) {
      const value = own(evidence, artifact.type);
      if (value !== undefined && !Object.hasOwn(scope, artifact.type)) scope[artifact.type] = value;
    }
    scope.result = evidence;
  }
  if (item !== undefined) scope.item = item.value;
  return scope;
}

/**
 * The same for a route: a name that a human gate covers is what was approved, wherever the route reads it from, unless
 * the phase being left declares it itself and has just handed it in.
 */
export function routeScopeFor(run: Run, judged: Judged): JsonObject {
  const scope = scopeFor(run, judged);
  const own = judged.evidence === undefined ? [] : namesGiven(judged.phase, judged.evidence);
  const covered = coveredIn(run, judged.phase).filter((name) => !own.includes(name));
  if (covered.length === 0) return scope;
  return {
    ...scope,
    artifacts: asApproved(scope.artifacts as JsonObject, scope.approved as JsonObject, covered),
    checkpoint: asApproved(scope.checkpoint as JsonObject, scope.approved as JsonObject, covered),
  };
}

/** What a look is about, in data. */
export function subjectFor(run: Run, judged: Judged): Subject {
  return subjectWith(run, judged, scopeFor(run, judged));
}

/** The same for a function that decides a route. */
export function routeSubjectFor(run: Run, judged: Judged): Subject {
  return subjectWith(run, judged, routeScopeFor(run, judged));
}

function subjectWith(run: Run, judged: Judged, scope: JsonObject): Subject {
  const { phase } = judged;
  const contested = [...freeHolders(run)].filter(([, steps]) => steps.length > 1);
  return {
    runId: run.id,
    phase: phase.id,
    target: run.target,
    attempt: run.work.attempts + 1,
    scope,
    declares: hasFreeResult(phase) ? [] : declaredNames(phase),
    covered: coveredIn(run, phase),
    ...(contested.length === 0 ? {} : { contested: Object.fromEntries(contested) }),
    reviews: 1 + (judgedVisits(run).get(phase.id) ?? 0),
    code: run.workflow.code,
    ...(run.workflow.code === null ? {} : { known: knownNames(run.workflow, judged.phase) }),
  };
}

/**
 * The checkpoint of design 3. A bare name in it has one owner: the engine's own field, set or not; else a param; else a
 * key of `state`; else the phases that declare it; else the one step whose newest free result holds it.
 */
export function checkpointOf(run: Run): JsonObject {
  return checkpointFrom(run, artifactValues(run));
}

/** The checkpoint as the gate or the list of items of a phase reads it: what another gate covers is what was approved. */
export function approvedCheckpointOf(
  run: Run,
  phase: Phase,
  { own }: { readonly own: readonly string[] },
): JsonObject {
  const covered = coveredIn(run, phase).filter((name) => !own.includes(name));
  return asApproved(checkpointOf(run), approvedValues(run), covered);
}

/** The names a phase declares that it was given a value of. */
export function namesGiven(phase: Phase, evidence: JsonObject): readonly string[] {
  return declaredValues(phase, evidence, { joined: phase.parallel !== null }).map(([name]) => name);
}

/** The value at a dotted path, or undefined. */
export function valueAt(root: Json, path: string): Json | undefined {
  let value: Json | undefined = root;
  for (const step of path.split('.')) value = own(value, step);
  return value;
}

function valuesFor(
  run: Run,
  { phase, evidence, item }: Judged,
): { readonly artifacts: JsonObject; readonly approved: JsonObject } {
  const joined = item === undefined && phase.parallel !== null;
  const current = evidence === undefined ? [] : declaredValues(phase, evidence, { joined });
  return {
    artifacts: { ...artifactValues(run), ...Object.fromEntries(current) },
    approved: approvedValues(run),
  };
}

function checkpointFrom(run: Run, artifacts: JsonObject): JsonObject {
  const named = { ...freeValues(run), ...artifacts, ...run.state, ...run.params };
  const others = Object.entries(named).filter(([name]) => !ENGINE_FIELDS.includes(name));
  return { ...Object.fromEntries(others), ...checkpointFields(run) };
}

/**
 * What handlers say is the author's: while nobody has approved such a name, it needs nobody's approval. Where a phase
 * declares the name, or a human has approved it, no handler makes it something else.
 */
function coveredIn(run: Run, phase: Phase): readonly string[] {
  const covered = [...coveredAt(run.workflow, phase.id)];
  if (!covered.some((name) => Object.hasOwn(run.state, name))) return covered;
  const declared = evidenceNamesOf(run.workflow);
  const approved = approvedValues(run);
  return covered.filter(
    (name) => !Object.hasOwn(run.state, name) || declared.has(name) || Object.hasOwn(approved, name),
  );
}

function asApproved(values: JsonObject, approved: JsonObject, covered: readonly string[]): JsonObject {
  const kept = Object.entries(values).filter(([name]) => !covered.includes(name));
  const decided = covered.flatMap((name) => {
    const value = own(approved, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...kept, ...decided]);
}

function checkpointFields(run: Run): JsonObject {
  const settled = run.settled ?? [];
  const newest = settled.at(-1);
  return {
    workflowRunId: run.id,
    workflowType: run.workflow.id,
    currentStep: run.phase,
    completedSteps: stepResults(run),
    iterationCounts: run.iterations,
    results: resultsOf(run),
    ...(run.work.failure === null || run.phase === null
      ? {}
      : { pendingRetry: { step: run.phase, error: run.work.failure, attempt: run.work.attempts } }),
    ...(run.work.items === null ? {} : { parallelResults: itemResults(run.work.items) }),
    ...(newest === undefined
      ? {}
      : {
          gateDecision: decisionOf(newest),
          decisions: Object.fromEntries(settled.map((decision) => [decision.gate, decisionOf(decision)])),
        }),
  };
}

function decisionOf({
  gate,
  phase,
  option,
  input,
  approves,
}: NonNullable<Run['settled']>[number]): JsonObject {
  return { gate, phase, option, input, approves };
}

const stepResults = over<JsonObject[]>({
  begin: (like = []) => [...like],
  add: (results, completion, run) => void results.push(stepResult(run, completion)),
});

const judgedVisits = over<Map<PhaseId, number>>({
  begin: (like) => new Map(like),
  add(visits, completion) {
    if (wasJudged(completion)) visits.set(completion.phase, (visits.get(completion.phase) ?? 0) + 1);
  },
});

/** A result that changed no name says why. */
function stepResult(run: Run, completion: Completion): JsonObject {
  const outcome = givesNames(run, completion) ? {} : { outcome: completion.outcome };
  return { step: completion.phase, completedAt: completion.at, result: completion.evidence, ...outcome };
}

/** A visit in which something valid was judged: only such a visit moves the severity ladder on. */
function wasJudged({ outcome, judged }: Completion): boolean {
  return judged === true || (outcome !== 'fail' && outcome !== 'skip' && outcome !== 'overridden');
}

/** Kept with the items: every condition of every check may ask. */
function itemResults(items: Readonly<Record<string, Item>>): JsonObject {
  const known = results.get(items);
  if (known !== undefined) return known;
  const made = Object.fromEntries(
    Object.entries(items).map(([key, item]) => [
      key,
      {
        status: item.status,
        result: item.evidence,
        error: item.error,
        retryCount: item.attempts,
        ...(item.outcome === undefined ? {} : { outcome: item.outcome }),
      },
    ]),
  );
  results.set(items, made);
  return made;
}

const results = new WeakMap<Readonly<Record<string, Item>>, JsonObject>();
