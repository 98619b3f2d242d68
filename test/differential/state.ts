import type {
  Command,
  Json,
  JsonObject,
  Outcome,
  Phase,
  PhaseId,
  Principal,
  Target,
  Workflow,
} from '@phasegate/core';

/** All the interpreter knows about a run. An ordinary phase has no items. */
export type State = ReturnType<typeof begin>;
/** What came of a command: with no codes it was allowed; `would` is what permissive mode let pass. */
export type Told = { codes: string[]; would: string[] };
/** The codes permissive mode let pass, where anything is said about them. */
export type Would = string[] | undefined;
/** A phase whose work was done, perhaps not left yet. */
export type Done = {
  phase: Phase;
  evidence: JsonObject;
  outcome: Outcome;
  update: JsonObject;
  by: string;
  would: string[];
  word?: JsonObject | undefined;
  letThrough?: boolean;
  outcomes?: Record<string, Outcome>;
  /** What a human said to it, where one did: no, past all of it, or yes to these names of the gate's context. */
  said?: 'no' | 'past' | JsonObject;
};
/** One item of a parallel phase. */
export type Item = {
  status: string;
  evidence: JsonObject | null;
  outcome: Outcome;
  update: JsonObject;
  word: JsonObject | undefined;
  letThrough: boolean;
  would: string[];
  attempts: number;
  crashes: number;
  holder: string | null;
} & Refusals;
/** What was refused before, of a visit or of one item in it. */
type Refusals = { refusal: string; refusals: number; refused: number; others: string[] };

type Status = 'queued' | 'active' | 'waiting' | 'escalated' | 'completed' | 'stopped';
type Gate = { name: string; since: number; done: Done; votes: { by: string; option: string }[] };
type Settled = { gate: string; phase: PhaseId; option: string; input: string | null; approves: boolean };
/** One visit that is over. */
export type Completion = {
  phase: PhaseId;
  visit: number;
  outcome: Outcome | 'rejected' | 'overridden';
  evidence: JsonObject;
  by: string;
  word?: JsonObject | undefined;
  letThrough?: boolean | undefined;
  outcomes?: Record<string, Outcome> | undefined;
  approved?: JsonObject | undefined;
  judged?: boolean;
};

/** A run nobody has done anything in. */
export function begin(workflow: Workflow, holder: string | null) {
  return {
    workflow,
    params: {} as Record<string, Json>,
    state: {} as JsonObject,
    holder,
    status: (holder === null ? 'queued' : 'active') as Status,
    phase: workflow.entry as PhaseId | null,
    epoch: 1,
    items: new Map<string, Item>(),
    done: [] as Completion[],
    visits: new Map([[String(workflow.entry), 1]]),
    iterations: new Map<string, number>(),
    gates: 0,
    settled: [] as Settled[],
    owed: new Map<string, number>(),
    ...untouched(),
    ...undisturbed(),
  };
}

/** Nothing was refused yet. */
export const unrefused = (): Refusals => ({ refusal: '', refusals: 0, refused: 0, others: [] });

/** What is forgotten when a phase is entered. */
export const untouched = () => ({
  attempts: 0,
  crashes: 0,
  ...unrefused(),
  fetched: [] as number[],
});

const undisturbed = () => ({ gate: null as Gate | null, questions: null as Questions | null, escalated: '' });
type Questions = { count: number; answered: number[] };

/** Changes some of a thing's values. */
export function set<T>(thing: T, values: Partial<T>): undefined {
  Object.assign(thing as object, values);
}

/** The run goes on: in the hands of the one who holds it or an item of it, else in the queue. */
export function goOn(s: State): undefined {
  const isHeld = s.holder !== null || [...s.items.values()].some((item) => item.holder !== null);
  return set(s, { ...undisturbed(), status: isHeld ? 'active' : 'queued' });
}

/** An agent takes the run. */
export function claimRun(s: State, holder: string): undefined {
  return set(s, { holder, epoch: s.epoch + 1, status: 'active' });
}

/** A human must act. */
export function escalate(s: State, reason: string): undefined {
  return set(s, { ...undisturbed(), status: 'escalated', escalated: reason });
}

/** The run is over. */
export function end(s: State, status: 'completed' | 'stopped'): undefined {
  return set(s, { ...undisturbed(), status, phase: null });
}

/** Where every open item has failed, only a human can go on. */
export function stuck(s: State, reason: string): undefined {
  const open = openItems(s);
  const isStuck = open.length > 0 && open.every((item) => item.status === 'failed');
  if (isStuck && (s.status === 'active' || s.status === 'queued')) escalate(s, reason);
}

/** Items that are not completed. */
export const openItems = (s: State) => [...s.items.values()].filter((item) => item.status !== 'completed');
/** The phase of that id. */
export const phaseOf = (s: State, id: Target) => s.workflow.phases.find((phase) => phase.id === id);
/** Whether a phase was completed before. */
export const wasDone = (s: State, id: PhaseId) => s.done.some((completion) => completion.phase === id);
/** How often a phase was entered. */
export const visitsOf = (s: State, id: Target) => s.visits.get(String(id)) ?? 0;

/** Says what came of something that is refused by throwing its reasons. */
export function tell(happen: () => Would): Told {
  try {
    return { codes: [], would: happen() ?? [] };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { codes: codesOf(thrown.whys), would: [] };
    throw thrown;
  }
}

/** Turns away anyone who may not do this here: nothing changes. */
export function need(holds: unknown, ...whys: string[]): asserts holds {
  if (!holds) throw new Refusal(whys);
}

/** Refuses work: it is remembered, counts perhaps, and ends at a human when there was too much of it. */
export function refuse(s: State, whys: string[], { counted, item }: Counting = { counted: false }): never {
  // The same question stays the same refusal, whatever was handed in.
  const refusal =
    whys.find((why) => why.startsWith('condition_unanswerable'))?.split(' ')[0] ?? whys.join('\n');
  const of: Refusals = item ?? s;
  const isKnown = refusal === of.refusal || of.others.includes(refusal);
  const others = [...of.others, of.refusal].filter((one) => one !== '' && one !== refusal).slice(-8);
  const refusals = isKnown ? of.refusals + 1 : Math.max(of.refusals, 1);
  set(of, { refusal, others, refusals, refused: of.refused + 1 });
  const isTooMuch = !counted && (of.refusals >= 5 || of.refused >= 30);
  if (counted) (item ?? s).attempts += 1;
  if (item && (item.attempts > 1 || isTooMuch)) set(item, { status: 'failed', holder: null });
  if (s.status === 'active') goOn(s);
  if (s.attempts > 1) escalate(s, 'attempts');
  else if (!item && isTooMuch && s.status !== 'escalated') escalate(s, 'refusals');
  stuck(s, 'attempts');
  throw new Refusal(whys);
}

/** The item somebody works on by that name, which then answers for what is refused there. */
export function worked(s: State, key: string | undefined): Counting {
  const item = s.items.get(key ?? '');
  return { counted: false, item: item?.status === 'pending' ? item : undefined };
}

/** Whether a refusal is an attempt, and of which item. */
export type Counting = { counted: boolean; item?: Item | undefined };

/** Refuses in strict mode if there are reasons; in permissive mode they are only told. */
export function object(s: State, whys: string[], counting: Counting): string[] {
  if (whys.length > 0 && s.workflow.enforcement.mode === 'strict') refuse(s, whys, counting);
  return codesOf(whys);
}

/** The codes of reasons. */
export const codesOf = (whys: string[]) => whys.map((why) => why.split(' ')[0] as string);

/** What an agent may report of a phase or an item: what there is a way for, and never that it was skipped. */
export function mayReport({ next, work }: Phase, outcome: Outcome): boolean {
  if (work.kind === 'handler' || outcome === 'skip') return false;
  if (next.kind !== 'outcomes') return outcome === 'ok';
  return outcome in next.map || (next.otherwise !== undefined && outcome !== 'iterate');
}

/** Anyone who is at work is refused; a human at a gate is only turned away. */
export function refuseHere(s: State, whys: string[]): never {
  if (s.status === 'active') refuse(s, whys);
  return need(false, ...whys) as never;
}

/** Only the agent that holds the run, or the item it is about, works on it, and only while it is active. */
export function needWorker(s: State, by: Principal, key: string | undefined): void {
  const item = s.items.get(key ?? '')?.holder ?? null;
  need(by.kind === 'agent', 'not_an_agent');
  need(s.status !== 'queued', 'run_not_active');
  need(by.name === s.holder || by.name === item, 'not_your_run');
  need(s.status !== 'waiting', 'run_waiting');
  need(s.status !== 'escalated', 'run_escalated');
  need(s.status === 'active', 'run_ended');
  need(item === null || item === by.name, 'item_held');
}

/** The current phase: another is refused, and one that was done is only turned away. */
export function needPhase(s: State, id: PhaseId, key: string | undefined): Phase {
  need(id === s.phase || !wasDone(s, id), 'phase_sequence_violation');
  if (id !== s.phase) refuse(s, [`phase_sequence_violation ${id}`], worked(s, key));
  // What others hold is theirs: the one who holds the run is sent away, and nothing is counted.
  const pending = [...s.items.values()].filter(({ status }) => status === 'pending');
  const isMine = pending.some(({ holder }) => (holder ?? s.holder) === s.holder);
  need(key !== undefined || pending.length === 0 || isMine, 'item_held');
  return phaseOf(s, id) as Phase;
}

/** The item something is about: none in an ordinary phase, `all` where every one is done. */
export function needItem(s: State, key: string | undefined): Item | 'all' | undefined {
  const open = [...s.items].filter(
    ([, { status, holder }]) => status === 'pending' && (holder ?? s.holder) === s.holder,
  );
  const rest = open.map(([name]) => name).join();
  const isPlain = !phaseOf(s, s.phase)?.parallel;
  if (key === undefined && isPlain) return undefined;
  if (key === undefined) return openItems(s).length === 0 ? 'all' : refuse(s, [`item_required ${rest}`]);
  const item = s.items.get(key);
  if (item === undefined) refuse(s, [`item_unknown ${isPlain ? '' : `${key} ${rest}`}`]);
  if (item.status !== 'pending') refuse(s, [`item_done ${key} ${item.status}`]);
  return item;
}

/** Commands of one kind. */
export type Of<K> = Extract<Command, { kind: K }>;

/** No `Error`: hundreds of thousands are thrown, and nobody reads their stacks. */
export class Refusal {
  readonly whys: string[];
  constructor(whys: string[]) {
    this.whys = whys;
  }
}
