import { canonicalJson, type Json, type JsonObject } from '../json.ts';
import { CAPABILITY_FORM, isCapability } from '../model/capabilities.ts';
import { goalProblem, normaliseGoal } from '../model/goal.ts';
import { readParams } from '../model/params.ts';
import { attachmentOf, holdsRing, isIsolated, isolatedWith } from '../model/rings.ts';
import type { RulePlaces } from '../model/rulePlaces.ts';
import { normaliseTarget } from '../model/target.ts';
import { type Phase, phaseById, type Ring, type Workflow } from '../model/workflow.ts';
import { begin } from './apply.ts';
import { blocker, refused } from './blockers.ts';
import { startCapabilityBlocker } from './capabilities.ts';
import type { Circumstance, Look } from './command.ts';
import { Asking } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { passed } from './leaving.ts';
import { measuredIn } from './measuredIn.ts';
import { type OtherRun, runExistsBlocker, runInTheWay } from './oneRun.ts';
import { itemsFor } from './route.ts';
import type { Principal, QueuePlace, Run, Starter } from './run.ts';
import { preconditionBlockers, preconditionWarnings } from './transition.ts';
import type { Blocker, NextAction, Verdict } from './verdict.ts';
import { warned } from './warnings.ts';

/** What a run is made of. */
export interface Starting {
  readonly id: string;
  readonly workflow: Workflow;
  readonly workflowHash: string;
  readonly target: string | null;
  /** What the run is to achieve, in the words of the one who starts it. */
  readonly goal?: string;
  readonly params: JsonObject;
  readonly ring: Ring;
  readonly trusted: boolean;
  readonly queued: boolean;
  /** Kept only where it says something. */
  readonly queue?: QueuePlace;
  /** What the agent that starts has shown it can do; absent where a start is only thought through, by proofs. */
  readonly able?: readonly string[];
  /** Where the rules are written, for what is told of a denial. */
  readonly places?: RulePlaces;
  /** Runs that may stand in the way where the workflow says `one_run_per`; absent as above. */
  readonly others?: readonly OtherRun[];
}

/** A run and the event that made it; a refused start makes none. */
export type StartDecision =
  | {
      readonly verdict: Verdict & { readonly allowed: true };
      readonly run: Run;
      readonly events: readonly RunEvent[];
    }
  | {
      readonly verdict: Verdict & { readonly allowed: false };
      readonly run: null;
      readonly events: readonly [];
    };

const START: NextAction = { act: 'start', text: 'start again with this corrected' };

/** What must be looked at before a run can start. */
export function checksForStart(starting: Starting, circumstance: Circumstance): readonly Look[] {
  const considered = considerStart(starting, circumstance);
  return 'looks' in considered ? considered.looks : [];
}

/** Starts a run, or says why not. Looks nobody answered count as failed. */
export function decideStart(starting: Starting, circumstance: Circumstance): StartDecision {
  const considered = considerStart(starting, circumstance);
  return 'looks' in considered ? considered.otherwise : considered;
}

function considerStart(
  starting: Starting,
  circumstance: Circumstance,
): StartDecision | { readonly looks: readonly Look[]; readonly otherwise: StartDecision } {
  const { workflow } = starting;
  const read = readParams(workflow.params, starting.params);
  const blockers: Blocker[] = read.ok
    ? []
    : read.problems.map((problem) => blocker('param_invalid', problem, START));
  const { principal, now } = circumstance;
  // Only an agent can hold a run; one that a human starts waits for an agent to claim it.
  const queued = starting.queued || principal.kind !== 'agent';
  const ring = queued ? ringInQueue(starting.ring, workflow.enforcement.ring) : starting.ring;
  if (!holdsRing(ring, workflow.enforcement.ring)) {
    const message = `workflow \`${workflow.id}\` needs the ring \`${workflow.enforcement.ring}\`, and this is \`${starting.ring}\``;
    blockers.push(blocker('ring_too_low', message, { act: 'start', text: wayInto(workflow) }));
  }
  blockers.push(
    ...goalBlockers(starting.goal),
    ...queueBlockers(starting.queue),
    ...capabilityBlockers(starting, circumstance),
    ...keptForHumans(starting, circumstance.principal),
  );
  const wanted = { workflow, target: targetOf(starting) };
  const other = runInTheWay(wanted, starting.others ?? []);
  if (other !== undefined) blockers.push(runExistsBlocker(wanted, other));
  if (!read.ok || blockers.length > 0) return refusal(blockers);

  const entry = phaseById(workflow, workflow.entry) as Phase;
  const event: RunEvent & { type: 'run_started' } = {
    at: now,
    type: 'run_started',
    id: starting.id,
    workflow: workflow.id,
    workflowHash: starting.workflowHash,
    target: wanted.target,
    ...(starting.goal === undefined ? {} : { goal: normaliseGoal(starting.goal) }),
    params: read.values,
    holder: queued ? null : principal.name,
    ring,
    trusted: starting.trusted,
    phase: entry.id,
    items: null,
    queued,
    ...placeIn(starting.queue),
    rules: 2,
    by: starterOf(principal),
    ...(queued ? {} : measuredIn(circumstance)),
    ...(starting.places === undefined ? {} : { places: starting.places }),
    // A run that is queued in the project's own folder is bound where it is begun.
    ...(circumstance.folder === undefined ? {} : { folder: circumstance.folder }),
  };
  const bare = begin(workflow, event);
  const items = itemsFor(bare, entry);
  if (!items.ok)
    return refusal([
      blocker('items_invalid', `phase \`${entry.id}\` cannot be entered: ${items.reason}`, START),
    ]);

  const asking = new Asking(circumstance);
  const failed = preconditionBlockers(bare, entry, { asking, from: entry }).map((found) => ({
    ...found,
    nextAction: START,
  }));
  const permissive = workflow.enforcement.mode === 'permissive';
  const warnings = preconditionWarnings(bare, entry, asking);
  const full = {
    ...event,
    items: items.items,
    ...(failed.length === 0 ? {} : { wouldRefuse: failed }),
    ...warned(warnings),
  };
  const answer: StartDecision =
    failed.length > 0 && !permissive
      ? refusal(failed)
      : {
          verdict: passed(failed, warnings),
          run: begin(workflow, full),
          events: [full],
        };
  return asking.missing.length > 0 ? { looks: asking.missing, otherwise: answer } : answer;
}

function starterOf(principal: Principal): Starter {
  const { kind, name } = principal;
  const owner = principal.kind === 'agent' ? principal.owner : undefined;
  return { kind, name, ...(owner === undefined ? {} : { owner }) };
}

/** How a run gets the ring that its workflow asks for. */
function wayInto({ id, enforcement: { ring } }: Workflow): string {
  if (isIsolated(ring)) {
    return 'have the engine run as another user, and start it through the agent’s own socket: `phasegate isolate check` says what is missing';
  }
  if (ring === 'hooked') {
    return `start it from a session of a client whose hooks are proven to hold: a human runs \`phasegate doctor --prove\``;
  }
  if (ring !== 'sandboxed') return START.text;
  return `have it driven with its agent in a sandbox: \`phasegate run ${id} --sandbox\``;
}

/**
 * A run in the queue is for agents that are attached as its workflow asks for: no other may claim it. Whether the engine
 * is isolated is a fact already.
 */
function ringInQueue(starting: Ring, asked: Ring): Ring {
  const [ours, theirs] = [attachmentOf(starting), attachmentOf(asked)];
  const attached = holdsRing(ours, theirs) ? ours : theirs;
  return isIsolated(starting) ? isolatedWith(attached) : attached;
}

/** What the author keeps for people: starting at all, and params that say how much a human will be asked. */
function keptForHumans({ workflow, params }: Starting, { kind }: Principal): readonly Blocker[] {
  if (kind === 'human') return [];
  const text = `a human starts or queues it, with \`phasegate start ${workflow.id} --as NAME\``;
  const human: NextAction = { act: 'wait_for_human', text };
  const found =
    workflow.start === 'human'
      ? [blocker('not_a_human', `only a human may start a run of \`${workflow.id}\`: ${text}`, human)]
      : [];
  for (const [name, param] of Object.entries(workflow.params)) {
    if (param.setBy !== 'human' || !Object.hasOwn(params, name)) continue;
    const given = params[name] as Json;
    if (param.default !== undefined && canonicalJson(param.default) === canonicalJson(given)) continue;
    const kept = param.default === undefined ? 'left out' : `left at \`${canonicalJson(param.default)}\``;
    const message = `param \`${name}\` is set by a human, so it must be ${kept}; else ${text}`;
    found.push(blocker('param_invalid', message, human));
  }
  return found;
}

/** The same workflow without what it keeps for humans, for the one who walks it without anybody. */
export function forAnyone(workflow: Workflow): Workflow {
  const { start: _, ...rest } = workflow;
  const params = Object.entries(workflow.params).map(([name, { setBy: __, ...param }]) => [name, param]);
  return { ...rest, params: Object.fromEntries(params) as Workflow['params'] };
}

function goalBlockers(goal: string | undefined): readonly Blocker[] {
  const problem = goal === undefined ? null : goalProblem(goal);
  const text = 'start again with another goal, or with none';
  return problem === null ? [] : [blocker('param_invalid', problem, { act: 'start', text })];
}

function queueBlockers(queue: QueuePlace | undefined): readonly Blocker[] {
  if (queue === undefined) return [];
  const wrong = queue.capabilities.filter((name) => !isCapability(name));
  return [
    ...(Number.isSafeInteger(queue.priority) ? [] : ['the priority must be a whole number']),
    ...wrong.map((name) => `\`${name.slice(0, 64)}\` cannot name a capability: ${CAPABILITY_FORM}`),
  ].map((message) => blocker('param_invalid', message, START));
}

/** As it is compared, where it is: two spellings must not look like two targets. */
function targetOf({ workflow, target }: Starting): string | null {
  return target === null || workflow.oneRunPer === undefined ? target : normaliseTarget(target);
}

/** An agent holds the run it starts, as if it had claimed it; without what is asked for it may only queue it. */
function capabilityBlockers(starting: Starting, { principal }: Circumstance): readonly Blocker[] {
  if (starting.able === undefined || starting.queued || principal.kind !== 'agent') return [];
  const found = startCapabilityBlocker(starting, { name: principal.name, has: starting.able });
  return found === null ? [] : [found];
}

/** Nothing is written where nothing was said. */
function placeIn(queue: QueuePlace | undefined): { readonly queue?: QueuePlace } {
  if (queue === undefined || (queue.priority === 0 && queue.capabilities.length === 0)) return {};
  return { queue: { priority: queue.priority, capabilities: [...new Set(queue.capabilities)] } };
}

function refusal(blockers: readonly Blocker[]): StartDecision {
  return { verdict: refused(blockers), run: null, events: [] };
}
