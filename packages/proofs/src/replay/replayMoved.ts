import type { Run, Starting } from '@phasegate/core/engine';
import { itemsFor } from '@phasegate/core/engine';
import type { Json, JsonObject } from '@phasegate/core/model';
import { jsonEqual, type Phase, paramProblem, phaseById, type Workflow } from '@phasegate/core/model';

/**
 * A run as it stood, in the changed workflow: what happened stays, and what the changed workflow would have put there
 * when the phase was entered is put there. A text where it cannot have stood there at all.
 */
export function movedTo(run: Run, changed: Workflow): Run | string {
  const moved: Run = { ...run, workflow: changed, params: withDefaults(saidIn(run, changed), changed) };
  const phase = phaseById(changed, run.phase);
  const before = phaseById(run.workflow, run.phase);
  if (phase === undefined || sameItems(phase, before)) return moved;
  const items = itemsFor(moved, phase);
  if (items.ok) return { ...moved, work: { ...run.work, items: items.items } };
  return `phase \`${phase.id}\` would not have been entered: ${items.reason}`;
}

/** What a run would be started with. */
export function startingIn(run: Run, changed: Workflow): Starting {
  return {
    id: run.id,
    workflow: changed,
    workflowHash: run.workflowHash,
    target: run.target,
    ...(run.goal === undefined ? {} : { goal: run.goal }),
    params: saidIn(run, changed),
    ring: run.ring,
    trusted: run.trusted,
    queued: run.status === 'queued',
    ...(run.queue === undefined ? {} : { queue: run.queue }),
  };
}

/** The params of a run without those that were only the default and that the changed workflow does not take. */
function saidIn({ params, workflow }: Run, changed: Workflow): JsonObject {
  const said = Object.entries(params).filter(([name, value]) => {
    const [old, param] = [declared(workflow, name), declared(changed, name)];
    const unsaid = old?.default !== undefined && jsonEqual(old.default, value);
    return !unsaid || (param !== undefined && paramProblem(param, value) === null);
  });
  return Object.fromEntries(said);
}

function declared({ params }: Workflow, name: string): Workflow['params'][string] | undefined {
  return Object.hasOwn(params, name) ? params[name] : undefined;
}

function withDefaults(params: JsonObject, { params: known }: Workflow): JsonObject {
  const missing = Object.entries(known).flatMap(([name, param]): [string, Json][] =>
    param.default === undefined || Object.hasOwn(params, name) ? [] : [[name, param.default]],
  );
  return missing.length === 0 ? params : { ...params, ...Object.fromEntries(missing) };
}

function sameItems(phase: Phase, before: Phase | undefined): boolean {
  return (phase.parallel?.key ?? null) === (before?.parallel?.key ?? null);
}
