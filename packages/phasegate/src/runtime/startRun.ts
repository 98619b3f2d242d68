import {
  type Circumstance,
  checksForStart,
  decideStart,
  type Fact,
  type Look,
  PhasegateError,
  type Principal,
  type Run,
  type RunSummary,
  type RunView,
  type Started,
  type Starting,
  type StartRequest,
  type Verdict,
  viewFor,
  type Workflow,
} from '@phasegate/core';
import {
  attachmentOf,
  isIsolated,
  isolatedWith,
  type Ring,
  shellWord,
  targetProblem,
  type Unaccepted,
} from '@phasegate/core/model';
import { createTurns, type Turns } from '../limits/turns.ts';
import { drafts, nameOf } from './auditDrafts.ts';
import { demandFit } from './demandFit.ts';
import { waitsFor, withHolder, workspaceHolder } from './fence/workspaceHolder.ts';
import { maskedStart } from './masking.ts';
import { placed } from './placedDenials.ts';
import type { AuditDraft, CatalogWorkflow, Store } from './ports.ts';
import { projectTarget, waysInto } from './projectTarget.ts';
import type { Rendering } from './rendering.ts';
import type { RuntimeParts } from './runtimeParts.ts';
import { isLastAccepted } from './trust/acceptance.ts';

/** The ring of a run where nothing more is known of its agent than that it is served by us. */
export const RING: Ring = 'served';

/** What starting needs of the runtime beside its parts. */
export interface Starter extends Pick<Rendering, 'renderSaved'> {
  timeFor(run: Run | null): string;
  lookAll(looks: readonly Look[], workflow: Workflow, facts: Record<string, Fact>): Promise<void>;
}

/**
 * Starts a run, or queues it, if the workflow is trusted and its first phase may be entered. Reading a definition and
 * looking at its preconditions may take long: an agent has a few starts under way at a time, and no other waits for them.
 */
export async function startRun(parts: RuntimeParts, starter: Starter, asked: Asked): Promise<Started> {
  const { kind, name } = asked.principal;
  if (kind !== 'agent') return startNow(parts, starter, asked);
  const { turns, saving } = sharesOf(parts.store);
  const end = await turns.take(name);
  let isSaving = false;
  // What is left is one write, which all who write at the time do together.
  const save = () => {
    isSaving = true;
    saving.set(name, (saving.get(name) ?? 0) + 1);
    end();
  };
  try {
    if (asked.request.queue !== true) await demandRoom(parts.store, name, saving.get(name) ?? 0);
    return await startNow(parts, { ...starter, save }, asked);
  } finally {
    end();
    if (isSaving) tidy(saving, name);
  }
}

/** No agent begins as many as it likes: each is a run that somebody must finish or stop. */
async function demandRoom(store: Store, agent: string, saving: number): Promise<void> {
  if ((await store.countHeld(agent, MOST_UNFINISHED)) + saving < MOST_UNFINISHED) return;
  throw new PhasegateError(
    'rate_limited',
    `\`${agent}\` has ${MOST_UNFINISHED} runs that are not finished already`,
    { hint: 'finish some of them, or have a human stop those that nobody needs' },
  );
}

/** Far more than an agent works on. */
const MOST_UNFINISHED = 1000;

interface Asked {
  readonly request: StartRequest;
  readonly principal: Principal;
  /** How the agent that starts is attached. */
  readonly ring: Ring;
}

/** The starts of a project: whose turn it is, and how many of each agent are decided and not on disk yet. */
interface Shares {
  readonly turns: Turns;
  readonly saving: Map<string, number>;
}

/** By store: each project shares its own out. */
const shares = new WeakMap<Store, Shares>();

function sharesOf(store: Store): Shares {
  const known = shares.get(store);
  if (known !== undefined) return known;
  const made = { turns: createTurns({ what: 'starts', atOnce: 4, waiting: 64 }), saving: new Map() };
  shares.set(store, made);
  return made;
}

function tidy(saving: Map<string, number>, agent: string): void {
  const left = (saving.get(agent) ?? 0) - 1;
  if (left > 0) saving.set(agent, left);
  else saving.delete(agent);
}

async function startNow(
  parts: RuntimeParts,
  starter: Starter & { readonly save?: () => void },
  { request: asked, principal, ring }: Asked,
): Promise<Started> {
  const { store } = parts;
  const { timeFor, lookAll, renderSaved } = starter;
  demandFit(asked);
  await demandFree(parts);
  const masked = maskedRequest(parts, asked);
  if ('refused' in masked) {
    const workflow = parts.masking?.mask(asked.workflow) ?? asked.workflow;
    const blockers = masked.refused.blockers.map(({ code, message }) => ({ code, message }));
    const note = { time: timeFor(null), principal: nameOf(principal), event: 'start_refused' } as const;
    await store.note(null, [{ ...note, data: { workflow, blockers } }]);
    return { verdict: masked.refused, view: null };
  }
  const { request } = masked;
  const found = await acceptedWorkflow(parts, starter, { request, principal });
  const { id: workflow, oneRunPer } = found.workflow;
  const refused = async (verdict: Verdict & { readonly allowed: false }): Promise<Started> => {
    const blockers = verdict.blockers.map(({ code, message }) => ({ code, message }));
    const data = { workflow, closure: found.closure, blockers };
    await store.note(null, [
      { time: timeFor(null), principal: nameOf(principal), event: 'start_refused', data },
    ]);
    return { verdict, view: null };
  };
  // The engine reads old records too, in which such targets stand: what is new is looked at here.
  const problem = targetProblem(request.target ?? '');
  if (problem !== null) return refused(wrongTarget(problem));
  const named = (target: string | null) =>
    target === null || oneRunPer === undefined ? target : projectTarget(parts.workspace, target);
  const starting: Starting = {
    id: parts.madeFor ?? parts.newId(),
    workflow: found.workflow,
    workflowHash: found.hash,
    target: named(request.target ?? null),
    ...(request.goal === undefined ? {} : { goal: request.goal }),
    params: request.params ?? {},
    ring: principal.kind === 'agent' ? await ringFor(parts, found.workflow, ring) : ring,
    trusted: found.trusted,
    queued: request.queue === true,
    queue: { priority: request.priority ?? 0, capabilities: request.capabilities ?? [] },
    able: await ableOf(principal, request, store),
    ...placesOf(found),
  };
  const bound = parts.folder === undefined ? {} : { folder: parts.folder };
  const waiting = waitingLine(store, { ...starting, ...bound }, principal);
  await waiting.look();
  const bare: Circumstance = { principal, now: timeFor(null), facts: {}, ...bound };
  const facts: Record<string, Fact> = {};
  for (;;) {
    const looks = checksForStart(starting, { ...bare, facts });
    if (looks.length === 0) break;
    await lookAll(looks, found.workflow, facts);
  }
  await protectDatabase(parts, found.workflow);
  const begin = async (): Promise<Started> => {
    const measured = await measuredFor(parts, { ...starting, queued: waiting.isQueued() }, principal);
    starter.save?.();
    for (let round = 1; ; round++) {
      const listed = await besides(parts, found.workflow, starting.target);
      const others = listed.map((other) => ({ ...other, target: named(other.target) }));
      const queued = waiting.isQueued();
      const decision = decideStart({ ...starting, queued, others }, { ...bare, ...measured, facts });
      const note = { time: bare.now, principal: nameOf(principal) };
      if (decision.run === null) return refused(placed(decision.verdict, found.workflow, found.rulePlaces));
      const data = { run: starting.id, workflow, workflow_hash: found.hash };
      const audit = drafts(decision.events, principal, { command: null, facts });
      if (await saveNew(parts, decision.run, { audit, project: [{ ...note, event: 'run_started', data }] })) {
        const view = viewFor(decision.run, principal, await renderSaved(decision.run, principal));
        return waiting.told({ verdict: decision.verdict, view });
      }
      // Somebody else began one in between: then this one waits, or what is refused now has the name of that run in it.
      if ((queued && oneRunPer === undefined) || round === ROUNDS) {
        throw new PhasegateError('internal', 'the new run has the id of another');
      }
      await waiting.look();
    }
  };
  return parts.fence?.during(starting.id, begin) ?? begin();
}

/** Nobody is hooked by saying so: only a session that hooks hold, and that is about to start this workflow, is. */
async function ringFor({ hooked }: RuntimeParts, { id, enforcement }: Workflow, ring: Ring): Promise<Ring> {
  if (attachmentOf(enforcement.ring) !== 'hooked' || attachmentOf(ring) !== 'served') return ring;
  if ((await hooked?.takeStart(id)) !== true) return ring;
  return isIsolated(ring) ? isolatedWith('hooked') : 'hooked';
}

/** A folder that was made for one run is for no other. */
async function demandFree({ store, madeFor }: RuntimeParts): Promise<void> {
  if (madeFor === undefined || (await store.load(madeFor)) === undefined) return;
  const message = `this folder was made for run \`${madeFor}\` and is for no other`;
  throw new PhasegateError('not_permitted', message, { hint: 'go to the main folder of the project' });
}

/** INVARIANT: before anything of it is decided on or recorded. */
function maskedRequest({ masking, workspace }: RuntimeParts, request: StartRequest) {
  if (masking === undefined) return { request };
  return maskedStart(request, masking, (target) => projectTarget(workspace, target));
}

/** The workflow to be started, as a human has accepted it, where there is one. */
async function acceptedWorkflow(
  { catalog, store }: RuntimeParts,
  { timeFor }: Starter,
  { request, principal }: Pick<Asked, 'request' | 'principal'>,
): Promise<CatalogWorkflow & { readonly trusted: boolean }> {
  const refuse = async (unaccepted: Unaccepted): Promise<never> => {
    const { workflow, path, closure } = unaccepted;
    const data = { workflow, closure };
    await store.note(null, [
      { time: timeFor(null), principal: nameOf(principal), event: 'start_refused', data },
    ]);
    throw new PhasegateError('untrusted_workflow', `no human has accepted \`${path}\` as it is now`, {
      hint: `phasegate trust ${shellWord(workflow)}`,
      unaccepted,
    });
  };
  const asked = { params: request.params ?? {}, target: request.target ?? null };
  const found = await catalog.load(request.workflow, asked).catch((error: unknown) => {
    if (!(error instanceof PhasegateError) || error.unaccepted === undefined) throw error;
    return refuse(error.unaccepted);
  });
  const trusted = await isLastAccepted(found.closure, store);
  if (!trusted && (await store.humans()).length > 0) {
    const { path, closure, files } = found;
    await refuse({ workflow: found.workflow.id, path, closure, files });
  }
  return { ...found, trusted };
}

/** Whether a new run begins at once, or waits in the queue for the one that has the workspace. */
function waitingLine(store: Store, starting: Starting & { readonly folder?: string }, { kind }: Principal) {
  let holder: RunSummary | undefined;
  return {
    async look(): Promise<void> {
      if (!starting.queued && kind === 'agent') holder ??= await workspaceHolder(store, starting);
    },
    isQueued: () => starting.queued || holder !== undefined,
    /** It was made, and the one who started it is told why it does not begin. */
    told({ verdict, view }: Extract<Started, { readonly view: RunView }>): Started {
      if (holder === undefined) return { verdict, view };
      const warning = { code: 'run_exists', message: waitsFor(holder) } as const;
      const warnings = [...(verdict.warnings ?? []), warning];
      return { verdict: { ...verdict, warnings }, view: withHolder(view, holder) };
    },
  };
}

function placesOf({ rulePlaces }: CatalogWorkflow): Pick<Starting, 'places'> {
  return rulePlaces === undefined ? {} : { places: rulePlaces };
}

/** The runs that may stand in the way of a new one. Those outside of the project may be named by another way to it. */
async function besides(
  { store, workspace }: RuntimeParts,
  { id: workflow, oneRunPer }: Workflow,
  target: string | null,
): Promise<readonly RunSummary[]> {
  if (oneRunPer === undefined) return [];
  if (oneRunPer === 'workflow') return store.notOver({ workflow, limit: 1 });
  return store.notOver({ workflow, targets: [target ?? ''], beneath: waysInto(workspace) });
}

/** The workspace as it is when the run begins; a run that waits in the queue is measured when it is claimed. */
async function measuredFor(
  { fence }: RuntimeParts,
  { id, queued }: Starting,
  { kind }: Principal,
): Promise<{ readonly tree?: string }> {
  return fence === undefined || queued || kind !== 'agent' ? {} : { tree: await fence.measure(id) };
}

/** False where its place is taken. */
function saveNew(
  { store, fence }: RuntimeParts,
  run: Run,
  records: Readonly<Record<'audit' | 'project', readonly AuditDraft[]>>,
): Promise<boolean> {
  const save = () => store.create(run, records.audit, records.project);
  return fence?.around({ before: null, after: run, save }) ?? save();
}

/** Before the run is there: from its first moment on no other workflow's agent may write it. */
async function protectDatabase({ databases }: RuntimeParts, { database }: Workflow): Promise<void> {
  if (database !== undefined) await databases?.protect(database);
}

/** Each round but the last was lost to a run that is there when the next one looks, or has ended since. */
const ROUNDS = 20;

function wrongTarget(message: string): Verdict & { readonly allowed: false } {
  const nextAction = { act: 'start', text: 'start again with a target on one line' } as const;
  return { allowed: false, blockers: [{ code: 'param_invalid', message, nextAction }] };
}

/** What the agent can do: as was said when it was added, else as it says itself, as when it claims. */
async function ableOf(
  { kind, name }: Principal,
  { capabilities = [] }: StartRequest,
  store: Pick<Store, 'agents'>,
): Promise<readonly string[]> {
  if (kind !== 'agent') return [];
  const known = (await store.agents()).find((agent) => agent.name === name);
  return known?.capabilities ?? capabilities;
}
