import type { Json, JsonObject } from '../json.ts';
import { own } from '../json.ts';
import type { Phase } from '../model/workflow.ts';
import type { Subject } from './command.ts';
import { type Completion, type Item, type Run, timesOf } from './run.ts';

/** What is being judged, beside the run itself. */
export interface Judged {
  readonly phase: Phase;
  /** Absent where nothing has been submitted yet, so that a condition on `result` is an error and not a guess. */
  readonly evidence?: JsonObject;
  readonly item?: Item;
}

/** The roots a condition may look at (design 4a, "Names in conditions"). */
export function scopeFor(run: Run, { phase, evidence, item }: Judged): JsonObject {
  const scope: Record<string, Json> = {
    artifacts: latestEvidence(run, evidence),
    params: run.params,
    state: run.state,
    checkpoint: checkpointOf(run, evidence),
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

/** What a look is about, in data. */
export function subjectFor(run: Run, judged: Judged): Subject {
  return {
    runId: run.id,
    phase: judged.phase.id,
    target: run.target,
    attempt: run.work.attempts + 1,
    scope: scopeFor(run, judged),
    code: run.workflow.code,
  };
}

/** The newest value of every piece of evidence of the whole run. */
export function latestEvidence(run: Run, current?: JsonObject): JsonObject {
  return Object.assign({}, ...run.completions.map((completion) => completion.evidence), current);
}

/**
 * The checkpoint of design 3: its own fields (S3.19) first, else the newest result that has the key,
 * else `state`, else `params`.
 */
export function checkpointOf(run: Run, current?: JsonObject): JsonObject {
  return { ...run.params, ...run.state, ...latestEvidence(run, current), ...checkpointFields(run) };
}

/** The value at a dotted path, or undefined. */
export function valueAt(root: Json, path: string): Json | undefined {
  let value: Json | undefined = root;
  for (const step of path.split('.')) value = own(value, step);
  return value;
}

function checkpointFields(run: Run): JsonObject {
  const decision = run.decisions.at(-1);
  return {
    workflowRunId: run.id,
    workflowType: run.workflow.id,
    currentStep: run.phase,
    completedSteps: run.completions.map(stepResult),
    iterationCounts: run.iterations,
    ...(run.work.failure === null || run.phase === null
      ? {}
      : { pendingRetry: { step: run.phase, error: run.work.failure, attempt: run.work.attempts } }),
    ...(run.work.items === null ? {} : { parallelResults: mapItems(run.work.items) }),
    ...(decision === undefined
      ? {}
      : { gateDecision: { gate: decision.gate, option: decision.option, input: decision.input } }),
  };
}

function stepResult(completion: Completion): JsonObject {
  return { step: completion.phase, completedAt: completion.at, result: completion.evidence };
}

function mapItems(items: Readonly<Record<string, Item>>): JsonObject {
  return Object.fromEntries(
    Object.entries(items).map(([key, item]) => [
      key,
      { status: item.status, result: item.evidence, error: item.error, retryCount: item.attempts },
    ]),
  );
}
