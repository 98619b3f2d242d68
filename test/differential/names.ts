import type { Json, JsonObject, Outcome, Phase, PhaseId, Target, Workflow } from '@phasegate/core';
import type { Completion, State } from './state.ts';

/** What a visit would leave behind, while it is judged or once it is done. */
export type Visit = Pick<
  Completion,
  'phase' | 'outcome' | 'evidence' | 'letThrough' | 'outcomes' | 'approved'
>;
/** A run as it is or would be; `own` is the submission that is being judged, whose names come first. */
export type Seen = { s: State; state: JsonObject; done: readonly Visit[]; own?: Visit };

/** Fields of the checkpoint that are the engine's, set or not. */
export const RESERVED =
  /^(workflowRunId|workflowType|currentStep|completedSteps|iterationCounts|pendingRetry|parallelResults|gateDecision|decisions|results)$/;

/** The names a phase asks for. */
export const declared = ({ evidence: { fields, artifacts } }: Phase) => [
  ...fields.map(({ name }) => name),
  ...artifacts.map(({ type }) => type),
];

/** Whether what was handed in counts outside its own phase. */
export const givesNames = ({ outcome, letThrough }: Pick<Visit, 'outcome' | 'letThrough'>) =>
  (outcome === 'ok' || outcome === 'iterate') && !letThrough;

/** The value somebody gave a name: by the newest of those who declare it, or by what is judged just now. */
export function artifact({ s, done, own }: Seen, name: string): Json | undefined {
  if (own && isAskedIn(s, own.phase, name)) {
    const value = handedIn(s, own, name);
    if (value !== undefined) return value;
  }
  return newest(done, (one) =>
    givesNames(one) && isAskedIn(s, one.phase, name) ? handedIn(s, one, name) : undefined,
  );
}

/** What a human approved under a name, last. */
export function approved({ s, done }: Seen, name: string): Json | undefined {
  return newest(done, (one) => {
    if (one.approved === undefined) return undefined;
    const isOwn = isAskedIn(s, one.phase, name) && givesNames(one);
    const own = isOwn ? handedIn(s, one, name) : undefined;
    return own === undefined ? get(one.approved, name) : own;
  });
}

/** Whose free results hold a name that nobody else owns. */
function freeHolders({ s, done }: Seen, name: string): PhaseId[] {
  if (s.workflow.phases.some((phase) => declared(phase).includes(name))) return [];
  const free = s.workflow.phases.filter((phase) => declared(phase).length === 0).map(({ id }) => id);
  return free.filter((id) => get(resultOf(done, id) ?? {}, name) !== undefined);
}

/** The steps whose free results hold a name, where there are several and nobody owns it: then it is nobody's. */
export function contested(seen: Seen, name: string): PhaseId[] {
  const holders = isOwned(seen, name) ? [] : freeHolders(seen, name);
  return holders.length > 1 ? holders : [];
}

/** The value of a bare name of the checkpoint, of its one owner. */
export function bare(seen: Seen, name: string): Json | undefined {
  const { s, state, done } = seen;
  if (RESERVED.test(name)) return engineField(seen, name);
  const set = get(s.params, name) ?? (name in s.workflow.params ? undefined : get(state, name));
  if (set !== undefined || isOwned(seen, name)) return set;
  const value = artifact(seen, name);
  const holders = freeHolders(seen, name);
  if (value !== undefined || holders.length !== 1) return value;
  return get(resultOf(done, holders[0] as PhaseId) as JsonObject, name);
}

/**
 * A name as a phase's route, items and gate read it: what another phase's gate covers is what was approved. What the phase
 * itself was handed needs nobody's approval, and is its owner's like any other name.
 */
export function read(seen: Seen, at: Phase, name: string): Json | undefined {
  if (!isApprovedAt(seen, at, name) || isHandedIn(seen, at, name)) return bare(seen, name);
  return approved(seen, name);
}

/** What handlers say needs nobody's approval, unless a phase asks for the name or a human has approved it. */
function isApprovedAt(seen: Seen, at: Phase, name: string): boolean {
  const { phases, params } = seen.s.workflow;
  if (RESERVED.test(name) || Object.hasOwn(params, name) || !isCovered(seen.s.workflow, at, name))
    return false;
  const isAsked = phases.some((phase) => declared(phase).includes(name));
  return !Object.hasOwn(seen.state, name) || isAsked || approved(seen, name) !== undefined;
}

/** The same of `artifacts.X`. */
export function readArtifact(seen: Seen, at: Phase, name: string): Json | undefined {
  if (!isApprovedAt(seen, at, name) || isHandedIn(seen, at, name)) return artifact(seen, name);
  return approved(seen, name);
}

/** A path into the checkpoint, as a phase reads it. */
export function readPath(seen: Seen, at: Phase, path: string): Json | undefined {
  const [name, ...steps] = path.split('.');
  return steps.reduce<Json | undefined>(
    (value, step) => (isPlain(value) ? get(value, step) : undefined),
    read(seen, at, name as string),
  );
}

/** A value of an object's own. */
export const get = (of: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;

/** An engine field, a param or a key of the state: nobody's evidence has that name. */
function isOwned({ s, state }: Seen, name: string): boolean {
  return RESERVED.test(name) || Object.hasOwn(s.workflow.params, name) || Object.hasOwn(state, name);
}

/** What is handed in just now, be it null, comes before what was approved. */
function isHandedIn({ s, own }: Seen, at: Phase, name: string): boolean {
  return own?.phase === at.id && declared(at).includes(name) && handedIn(s, own, name) !== undefined;
}

/** What a visit gave a name: in a parallel phase, by item. */
function handedIn(s: State, { phase, evidence, outcomes }: Visit, name: string): Json | undefined {
  const isParallel = s.workflow.phases.find(({ id }) => id === phase)?.parallel;
  if (!isParallel) return get(evidence, name);
  const items = Object.entries(evidence.items as JsonObject).flatMap(([key, one]) => {
    const value = get(outcomes ?? {}, key) === 'skip' ? undefined : get(one as JsonObject, name);
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(items);
}

function engineField({ s, done }: Seen, name: string): Json | undefined {
  const last = s.settled.at(-1);
  if (name === 'gateDecision') return last;
  if (name === 'decisions' && last) return Object.fromEntries(s.settled.map((one) => [one.gate, one]));
  if (name === 'results')
    return Object.fromEntries(
      s.workflow.phases.flatMap(({ id }) => {
        const result = resultOf(done, id);
        return result === undefined ? [] : [[String(id), result]];
      }),
    );
  return name === 'currentStep' ? s.phase : undefined;
}

/** The newest result of a step that counts. */
const resultOf = (done: readonly Visit[], id: PhaseId) =>
  newest(done, (one) => (one.phase === id && givesNames(one) ? one.evidence : undefined));

const isAskedIn = (s: State, id: PhaseId, name: string) =>
  s.workflow.phases.some((phase) => phase.id === id && declared(phase).includes(name));

function newest<T>(done: readonly Visit[], find: (one: Visit) => T | undefined): T | undefined {
  for (let index = done.length - 1; index >= 0; index--) {
    const found = find(done[index] as Visit);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An object and no list. */
export const isPlain = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the gate of another phase covers a name, and its yes can have led here. */
export function isCovered(workflow: Workflow, at: Phase, name: string): boolean {
  return workflow.phases.some((gated) => {
    const { id, humanGate } = gated;
    if (humanGate === null || id === at.id) return false;
    const covers = [...declared(gated), ...humanGate.context.map((path) => path.split('.')[0])];
    if (!covers.includes(name)) return false;
    const yes = humanGate.options.filter((option) => meaning(workflow, gated, option) !== 'no');
    const first = yes.flatMap(({ next }) => (next === undefined ? waysOf(gated) : [next]));
    return isReached(workflow, at.id, first);
  });
}

/** What an option means, as far as the workflow tells: yes, no, or by the way that is taken. */
export function meaning(
  workflow: Workflow,
  { id, next: route, parallel }: Phase,
  { next, approves }: { next?: Target; approves?: boolean },
): 'yes' | 'no' | 'way' {
  if (next === null) return 'no';
  if (approves !== undefined) return approves ? 'yes' : 'no';
  if (next === undefined) return 'way';
  const place = (one: PhaseId) => workflow.phases.findIndex((phase) => phase.id === one);
  if (place(next) <= place(id)) return 'no';
  const own = new Set([...okWays(route), ...(parallel?.onEmpty === undefined ? [] : [parallel.onEmpty])]);
  return own.size === 1 ? 'yes' : 'way';
}

/** Where a phase leads by itself when all is well. */
export function okWays(route: Phase['next']): Target[] {
  if (route.kind === 'to') return [route.target];
  if (route.kind === 'when') return [route.onTrue, route.onFalse];
  const to = wayOf(route, 'ok');
  return to === undefined ? [] : [to];
}

/** Where an outcome leads. */
export const wayOf = ({ map, otherwise }: Extract<Phase['next'], { kind: 'outcomes' }>, outcome: Outcome) =>
  outcome in map ? map[outcome] : otherwise;

/** Every way a phase may lead by itself; where each option has a way of its own, only `fail` asks no human. */
function waysOf({ next, parallel, humanGate }: Phase): Target[] {
  const isDecided = humanGate?.options.every((option) => option.next !== undefined) ?? false;
  const fail = next.kind === 'outcomes' ? wayOf(next, 'fail') : undefined;
  const more = 'onExhausted' in next ? [next.onExhausted] : [];
  if (isDecided) return fail === undefined ? [] : [fail, ...more].filter((to) => to !== undefined);
  const ways = next.kind === 'outcomes' ? [...Object.values(next.map), next.otherwise] : okWays(next);
  return [...ways, ...more, parallel?.onEmpty].filter((to) => to !== undefined);
}

function isReached(workflow: Workflow, goal: PhaseId, first: Target[]): boolean {
  const open = [...first];
  const seen = new Set<Target>();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === goal) return true;
    const phase = workflow.phases.find((one) => one.id === id);
    if (phase === undefined || seen.has(id)) continue;
    seen.add(id);
    open.push(...waysOf(phase), ...(phase.humanGate?.options ?? []).flatMap(({ next }) => next ?? []));
  }
  return false;
}
