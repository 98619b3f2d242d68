import type { Json, JsonObject } from '../json.ts';
import type { PhaseId, Workflow } from '../model/workflow.ts';
import { databaseOf } from './databaseHash.ts';
import type { RunEvent } from './events.ts';
import { withCompletion } from './history.ts';
import { inHands } from './holding.ts';
import { itemDone } from './itemDone.ts';
import {
  afterItemRelease,
  afterRefusal,
  mapItems,
  unrefused,
  withItem,
  withoutHolder,
  withoutRefusal,
} from './itemWork.ts';
import { ownerOf, withOwner } from './owners.ts';
import {
  type GateDecision,
  type Item,
  type PhaseWork,
  type Run,
  type RunCore,
  resultOf,
  type SettledGate,
  timesOf,
} from './run.ts';

type Started = Extract<RunEvent, { type: 'run_started' }>;

/** The run an opening event makes. */
export function begin(workflow: Workflow, event: Started): Run {
  return {
    id: event.id,
    workflow,
    workflowHash: event.workflowHash,
    target: event.target,
    ...(event.goal === undefined ? {} : { goal: event.goal }),
    params: event.params,
    holder: event.holder,
    ring: event.ring,
    ...folderOf(event),
    trusted: event.trusted,
    epoch: 1,
    ...(event.queue === undefined ? {} : { queue: event.queue }),
    ...(event.by === undefined ? {} : { by: event.by }),
    ...(event.queued ? {} : ownerOf(event.by)),
    startedAt: event.at,
    updatedAt: event.at,
    completions: [],
    state: {},
    visits: { [String(event.phase)]: 1 },
    iterations: {},
    work: { ...freshWork(event.at, event.items), ...treeOf(event) },
    decisions: [],
    ...(event.rules === undefined ? {} : { rules: event.rules }),
    status: event.queued ? 'queued' : 'active',
    phase: event.phase,
  };
}

/** The run after one event. Knows no reasons: what may happen is `decide`'s business. */
export function apply(run: Run, event: RunEvent): Run {
  const core: RunCore = { ...coreOf(run), updatedAt: event.at };
  switch (event.type) {
    case 'run_started':
      throw new TypeError('a run starts once');
    case 'run_claimed':
      return {
        ...core,
        ...folderOf(event),
        ...ownerOf(event),
        holder: event.holder,
        epoch: run.epoch + 1,
        work: { ...core.work, ...treeOf(event) },
        status: 'active',
        phase: here(run),
      };
    case 'run_released':
      return afterRelease(run, core, event);
    case 'item_claimed':
      return {
        ...run,
        updatedAt: event.at,
        work: withOwner(withItem(run.work, event.item, { holder: event.holder }), event.owner),
      };
    case 'item_released':
      return settled({ ...run, updatedAt: event.at, work: afterItemRelease(run, event) });
    case 'task_fetched':
      return {
        ...run,
        updatedAt: event.at,
        work: { ...run.work, fetched: [...run.work.fetched, event.task] },
      };
    case 'phase_refused':
      return settled({ ...run, updatedAt: event.at, work: afterRefusal(run, event) });
    case 'item_completed': {
      const work = withItem(withoutRefusal(run.work, event.item), event.item, itemDone(event), 'holder');
      const state = merge(run.state, event.state ?? {});
      return settled({ ...run, updatedAt: event.at, state, work });
    }
    case 'gate_opened':
      return {
        ...core,
        work: withinScope(core.work),
        ...(event.instance === undefined ? {} : { gates: event.instance }),
        status: 'waiting',
        phase: event.phase,
        wait: event.wait,
      };
    case 'gate_decided':
      return afterDecision(run, core, event);
    case 'gate_timed_out':
      return { ...run, updatedAt: event.at };
    case 'gate_closed': {
      const work = { ...run.work, failure: event.reason };
      return goingOn({ ...core, work, epoch: run.epoch + 1 }, here(run));
    }
    case 'phase_completed':
      return afterCompletion(run, core, event);
    case 'phase_overridden':
      return { ...run, updatedAt: event.at, overrides: [...(run.overrides ?? []), event.override] };
    case 'fence_settled':
      return afterFence(run, event);
    case 'question_asked':
      return {
        ...core,
        status: 'waiting',
        phase: here(run),
        wait: { for: 'questions', since: event.at, questions: event.questions, answers: [] },
      };
    case 'question_answered':
      return afterAnswer(run, core, event);
    case 'run_escalated':
      return { ...core, status: 'escalated', phase: here(run), escalation: event.escalation };
    case 'run_resumed':
      return goingOn({ ...paid(core, here(run)), work: afterResume(run.work, event.note) }, here(run));
    case 'run_stopped':
      return { ...core, status: 'stopped', phase: null, reason: event.reason, stoppedIn: here(run) };
    case 'run_migrated':
      return afterMigration(run, event);
  }
}

/** A phase just entered. */
export function freshWork(at: string, items: Readonly<Record<string, Item>> | null): PhaseWork {
  return {
    enteredAt: at,
    attempts: 0,
    failure: null,
    note: null,
    refusal: null,
    fetched: [],
    items,
    answers: [],
  };
}

function coreOf(run: Run): RunCore {
  return {
    id: run.id,
    workflow: run.workflow,
    workflowHash: run.workflowHash,
    target: run.target,
    ...(run.goal === undefined ? {} : { goal: run.goal }),
    params: run.params,
    holder: run.holder,
    ring: run.ring,
    ...folderOf(run),
    trusted: run.trusted,
    epoch: run.epoch,
    ...(run.queue === undefined ? {} : { queue: run.queue }),
    ...(run.by === undefined ? {} : { by: run.by }),
    ...ownerOf(run),
    startedAt: run.startedAt,
    updatedAt: run.updatedAt,
    completions: run.completions,
    state: run.state,
    visits: run.visits,
    iterations: run.iterations,
    work: run.work,
    decisions: run.decisions,
    ...(run.rules === undefined ? {} : { rules: run.rules }),
    ...(run.gates === undefined ? {} : { gates: run.gates }),
    ...(run.settled === undefined ? {} : { settled: run.settled }),
    ...(run.owed === undefined ? {} : { owed: run.owed }),
    ...(run.fenced === undefined ? {} : { fenced: run.fenced }),
    ...(run.overrides === undefined ? {} : { overrides: run.overrides }),
  };
}

function here(run: Run): PhaseId {
  if (run.phase === null) throw new TypeError('an ended run has no phase');
  return run.phase;
}

/** A run goes on in the hands of the one who holds it or an item of it; one that nobody works on waits in the queue. */
function goingOn(core: RunCore, phase: PhaseId): Run {
  return { ...core, status: inHands(core) ? 'active' : 'queued', phase };
}

function settled(run: Run): Run {
  return run.status === 'active' ? goingOn(coreOf(run), run.phase) : run;
}

/** What was done stays done; only what one agent must have read itself is forgotten. */
function afterRelease(
  run: Run,
  { owner, ...core }: RunCore,
  event: Extract<RunEvent, { type: 'run_released' }>,
): Run {
  const lost = run.status === 'active' && event.cause !== 'given_back';
  const goesOn = event.keepsEpoch === true;
  const work: PhaseWork = {
    ...run.work,
    fetched: goesOn ? run.work.fetched : [],
    items: run.work.items === null ? null : withoutHolder(run.work.items, event.holder),
    ...(lost ? { crashes: (run.work.crashes ?? 0) + 1 } : {}),
  };
  const epoch = goesOn ? run.epoch : run.epoch + 1;
  // Whose key was used here is not forgotten with the agent.
  const released: RunCore = { ...core, holder: null, epoch, work: withOwner(work, owner) };
  switch (run.status) {
    case 'waiting':
      return { ...released, status: 'waiting', phase: run.phase, wait: run.wait };
    case 'escalated':
      return { ...released, status: 'escalated', phase: run.phase, escalation: run.escalation };
    default:
      return goingOn(released, here(run));
  }
}

function afterDecision(run: Run, core: RunCore, event: Extract<RunEvent, { type: 'gate_decided' }>): Run {
  const decisions = [...run.decisions, event.decision];
  if (run.status !== 'waiting' || run.wait.for !== 'gate') throw new TypeError('no gate is open');
  const wait = { ...run.wait, votes: [...run.wait.votes, event.decision] };
  const { settles } = event;
  return { ...core, decisions, ...settledWith(run, settles), status: 'waiting', phase: run.phase, wait };
}

function settledWith(run: Run, settles: SettledGate | undefined): Pick<RunCore, 'settled'> {
  if (settles === undefined) return {};
  const others = (run.settled ?? []).filter(
    ({ gate, phase }) => gate !== settles.gate || phase !== settles.phase,
  );
  return { settled: [...others, settles] };
}

/** What was decided about an earlier visit says nothing about the one that begins. */
function entering(core: RunCore, phase: PhaseId): RunCore {
  if (core.settled === undefined) return core;
  return { ...core, settled: core.settled.filter((settled) => settled.phase !== phase) };
}

/** Attempts of earlier visits are forgotten when the phase succeeds, or a human says so. */
function paid({ owed, ...core }: RunCore, phase: PhaseId): RunCore {
  if (owed === undefined) return core;
  const { [String(phase)]: _, ...others } = owed;
  return Object.keys(others).length === 0 ? core : { ...core, owed: others };
}

function owing(core: RunCore, phase: PhaseId, attempts: number | undefined): RunCore {
  if (attempts === undefined) return paid(core, phase);
  return { ...core, owed: { ...core.owed, [String(phase)]: attempts } };
}

function afterCompletion(
  run: Run,
  core: RunCore,
  event: Extract<RunEvent, { type: 'phase_completed' }>,
): Run {
  const from = String(event.phase);
  const { approved, judged } = event;
  const done: RunCore = {
    ...owing(core, event.phase, event.owed),
    epoch: run.epoch + 1,
    completions: withCompletion(run, {
      phase: event.phase,
      visit: timesOf(run.visits, from) || 1,
      at: event.at,
      by: event.by,
      outcome: event.outcome,
      ...resultOf(event),
      ...(approved === undefined ? {} : { approved }),
      ...(judged === undefined ? {} : { judged }),
      ...databaseOf(event),
      ...(event.made === undefined ? {} : { made: event.made }),
    }),
    state: merge(run.state, event.state),
    iterations: event.iterated
      ? { ...run.iterations, [from]: timesOf(run.iterations, from) + 1 }
      : run.iterations,
  };
  if (event.next === null) {
    return { ...done, work: freshWork(event.at, null), status: 'completed', phase: null };
  }
  const to = String(event.next);
  const attempts = timesOf(done.owed ?? {}, event.next);
  const entered: RunCore = {
    ...entering(done, event.next),
    visits: { ...run.visits, [to]: timesOf(run.visits, to) + 1 },
    work: {
      ...freshWork(event.at, event.items),
      ...treeOf(event),
      attempts,
      note: event.note === undefined ? newestNote(run) : event.note,
    },
  };
  return goingOn(entered, event.next);
}

/** What a human wrote at the gate is the first thing the next phase's agent must read. */
export function newestNote(run: Run): string | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return null;
  const decision = run.wait.votes.findLast((vote) => vote.input !== null);
  return decision === undefined ? null : noteOf(decision);
}

/**
 * The last vote is the one that decided; what was written for another option was outvoted and is nobody's order.
 * Said by the event where it differs from the newest note, which is what runs from before this were given.
 */
export function winningNote(run: Run): string | null {
  if (run.status !== 'waiting' || run.wait.for !== 'gate') return null;
  const { votes } = run.wait;
  const notes = votes.filter(({ option, input }) => option === votes.at(-1)?.option && input !== null);
  return notes.length === 0 ? null : notes.map(noteOf).join('\n');
}

function noteOf({ by, option, input }: GateDecision): string {
  return `${by} chose \`${option}\`: ${input}`;
}

function afterAnswer(run: Run, core: RunCore, event: Extract<RunEvent, { type: 'question_answered' }>): Run {
  if (run.status !== 'waiting' || run.wait.for !== 'questions') throw new TypeError('no question is open');
  const work = { ...run.work, answers: [...run.work.answers, event.answer] };
  if (event.final) return goingOn({ ...core, work }, run.phase);
  return {
    ...core,
    work,
    status: 'waiting',
    phase: run.phase,
    wait: { ...run.wait, answers: [...run.wait.answers, event.answer] },
  };
}

function afterResume({ crashes: _, ...work }: PhaseWork, note: string | null): PhaseWork {
  const items = work.items === null ? null : mapItems(work.items, tryAgain);
  return { ...work, attempts: 0, refusal: null, note: note ?? work.note, items };
}

function tryAgain({ crashes: _, refusal: __, ...item }: Item): Item {
  return item.status === 'failed' ? { ...item, status: 'pending', attempts: 0 } : item;
}

function folderOf({ folder }: { readonly folder?: string }): Pick<RunCore, 'folder'> {
  return folder === undefined ? {} : { folder };
}

function treeOf({ tree }: { readonly tree?: string }): Pick<PhaseWork, 'tree'> {
  return tree === undefined ? {} : { tree };
}

function withinScope(work: PhaseWork): PhaseWork {
  if (work.outside === undefined) return work;
  const { outside: _, ...inside } = work;
  return inside;
}

/** What was settled is no longer in the way, and the same refusal is a new one: somebody has looked at it. */
function afterFence(run: Run, event: Extract<RunEvent, { type: 'fence_settled' }>): Run {
  const { at, action, phase, paths, reason, by } = event;
  const { outside = [], ...work } = run.work;
  const left = outside.filter(({ path }) => !paths.includes(path));
  return {
    ...run,
    updatedAt: at,
    work: { ...work, refusal: null, ...(left.length === 0 ? {} : { outside: left }), ...treeOf(event) },
    fenced: [...(run.fenced ?? []), { action, phase, paths, reason, by, at }],
  };
}

/** The visit goes on with its attempts; what was read is another text now, and what was refused another rule. */
function afterMigration(run: Run, event: Extract<RunEvent, { type: 'run_migrated' }>): Run {
  const { at, workflow, workflowHash, params, trusted } = event;
  const items = run.work.items === null ? null : mapItems(run.work.items, unrefused);
  const work = { ...run.work, fetched: [], refusal: null, items };
  return { ...run, updatedAt: at, workflow, workflowHash, params, trusted, work, epoch: run.epoch + 1 };
}

function merge(state: JsonObject, updates: JsonObject): JsonObject {
  return Object.keys(updates).length === 0 ? state : ({ ...state, ...updates } as Record<string, Json>);
}
