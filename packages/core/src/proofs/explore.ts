import type { RunEvent } from '../engine/events.ts';
import type { PhaseWork, Run } from '../engine/run.ts';
import { decideStart } from '../engine/start.ts';
import { canonicalJson, type JsonObject } from '../json.ts';
import { ABSTRACT_STATE, type Abstraction } from './abstractWorkflow.ts';
import type { Marks, Monitor } from './monitor.ts';
import { AGENT, type Move, movesOf, NOW } from './moves.ts';
import { partialTruth } from './partialTruth.ts';
import { conditionOf } from './phaseConditions.ts';

/** One state of a workflow: a run without what does not matter for what can happen, and what it has passed. */
export interface State {
  readonly run: Run;
  readonly marks: Marks;
  /** The state it was first reached from, or -1 for a start. */
  readonly from: number;
  readonly words: string;
  /** What it leads to, by place in the list. */
  readonly next: number[];
}

/** Every state that was found, in the order of their distance from a start. */
export interface Explored {
  readonly states: readonly State[];
  readonly transitions: number;
  readonly complete: boolean;
}

/** Walks every state breadth first, so that the way a state was first reached is the shortest there is. */
export function explore(abstraction: Abstraction, monitor: Monitor, maxStates: number): Explored {
  const states: State[] = [];
  const places = new Map<string, number>();
  let transitions = 0;
  let complete = true;
  const reach = (run: Run, marks: Marks, came: { readonly from: number; readonly words: string }): number => {
    const bare = essenceOf(run, abstraction);
    const key = keyOf(bare, marks);
    const known = places.get(key);
    if (known !== undefined) return known;
    if (states.length >= maxStates) {
      complete = false;
      return -1;
    }
    places.set(key, states.length);
    states.push({ run: bare, marks, ...came, next: [] });
    return states.length - 1;
  };
  for (const params of abstraction.starts) {
    for (const started of startMoves(abstraction, params)) {
      reach(started.run, monitor.started(started.run), { from: -1, words: started.words });
    }
  }
  for (let place = 0; place < states.length; place++) {
    const state = states[place] as State;
    for (const move of movesOf(state.run, abstraction)) {
      transitions++;
      const reached = reach(move.decision.run, monitor.after(state.marks, state.run, move.decision.events), {
        from: place,
        words: wordsOf(move),
      });
      if (reached !== -1 && reached !== place) state.next.push(reached);
    }
  }
  return { states, transitions, complete };
}

/** How a state is reached, one step a line, by the shortest way. */
export function traceTo(states: readonly State[], place: number): readonly string[] {
  const lines: string[] = [];
  for (let at = place; at !== -1; at = (states[at] as State).from) lines.push((states[at] as State).words);
  return lines.reverse();
}

function startMoves(abstraction: Abstraction, params: JsonObject) {
  const { workflow } = abstraction;
  if (isRefused(abstraction, params)) return [];
  // What else its first phase asks beforehand holds: nothing can be said of a run that never was.
  const entry = workflow.phases.map((phase) =>
    phase.id === workflow.entry ? { ...phase, preconditions: [], parallel: null } : phase,
  );
  const decision = decideStart(
    {
      id: 'run',
      workflow: { ...workflow, phases: entry },
      workflowHash: '',
      target: null,
      params,
      ring: workflow.enforcement.ring,
      trusted: true,
      queued: false,
    },
    { principal: AGENT, now: NOW, facts: {} },
  );
  const given = Object.entries(params).map(([name, value]) => `${name}=${canonicalJson(value)}`);
  const words = given.length === 0 ? 'start' : `start with ${given.join(', ')}`;
  if (decision.run === null) return [];
  const parallel = workflow.phases.find(({ id }) => id === workflow.entry)?.parallel ?? null;
  const items = parallel === null ? null : itemsOf();
  return [{ run: { ...decision.run, workflow, work: { ...decision.run.work, items } } as Run, words }];
}

/** True where the params alone keep the first phase from being entered. */
function isRefused({ workflow, tried }: Abstraction, params: JsonObject): boolean {
  const preconditions = workflow.phases.find(({ id }) => id === workflow.entry)?.preconditions ?? [];
  return preconditions.some((check) => {
    const expression = check.use === 'expression' ? conditionOf(check) : null;
    const truth = expression === null ? 'unknown' : partialTruth(expression, { params, tried, iteration: 1 });
    return truth === 'no' || truth === 'error';
  });
}

function itemsOf(): PhaseWork['items'] {
  const item = { status: 'pending' as const, evidence: null, attempts: 0, error: null };
  return { first: { ...item, value: 'first' }, second: { ...item, value: 'second' } };
}

/** A run with everything forgotten that cannot change what happens next. */
function essenceOf(run: Run, abstraction: Abstraction): Run {
  const here = String(run.phase);
  const items = run.work.items;
  const attempts = run.status === 'active' ? run.work.attempts : 0;
  const core = {
    ...run,
    epoch: 1,
    holder: AGENT.name,
    completions: [],
    decisions: [],
    state: ABSTRACT_STATE,
    updatedAt: NOW,
    visits: counted(run.visits, abstraction.liveVisits.get(here), abstraction.visitCap),
    iterations: counted(run.iterations, abstraction.liveIterations.get(here), Number.POSITIVE_INFINITY),
    work: {
      enteredAt: NOW,
      attempts,
      failure: null,
      note: null,
      refusal: null,
      fetched: [],
      answers: [],
      items: items === null ? null : sorted(items),
    },
  };
  if (core.status === 'waiting' && core.wait.for === 'gate') {
    const gate = `${core.wait.gate.split('#')[0]}#1`;
    return {
      ...core,
      wait: { ...core.wait, gate, since: NOW, evidence: {}, state: {}, votes: [], wouldRefuse: [] },
    } as Run;
  }
  if (core.status === 'escalated') {
    return { ...core, escalation: { ...core.escalation, message: '', since: NOW, blockers: [] } } as Run;
  }
  return core as Run;
}

function counted(
  counts: Readonly<Record<string, number>>,
  live: ReadonlySet<string> | undefined,
  cap: number,
): Readonly<Record<string, number>> {
  const kept: Record<string, number> = {};
  for (const id of live ?? []) {
    const count = counts[id];
    if (count !== undefined) kept[id] = Math.min(count, cap);
  }
  return kept;
}

/** Which item did what makes no difference, so the same results in another order are the same state. */
function sorted(items: NonNullable<PhaseWork['items']>): NonNullable<PhaseWork['items']> {
  const results = Object.values(items)
    .map(({ status, attempts }) => ({ status, attempts: status === 'pending' ? attempts : 0 }))
    .sort((one, other) => `${one.status}${one.attempts}`.localeCompare(`${other.status}${other.attempts}`));
  return Object.fromEntries(
    Object.keys(items).map((key, index) => [
      key,
      { value: key, evidence: null, error: null, ...(results[index] as (typeof results)[number]) },
    ]),
  );
}

function keyOf(run: Run, marks: Marks): string {
  const items =
    run.work.items === null
      ? ''
      : Object.values(run.work.items)
          .map(({ status, attempts }) => `${status}${attempts}`)
          .join();
  const why =
    run.status === 'escalated'
      ? run.escalation.reason === 'iterations'
      : run.status === 'waiting' && run.wait.for === 'gate'
        ? run.wait.outcome
        : run.status === 'stopped'
          ? run.stoppedIn
          : '';
  return `${typeof run.phase}${run.phase}|${run.status}|${String(why)}|${run.work.attempts}|${countsOf(run.visits)}|${countsOf(run.iterations)}|${items}|${canonicalJson(run.params)}|${marks}`;
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([id, count]) => `${id}:${count}`)
    .join();
}

function wordsOf({ words, decision }: Move): string {
  const last = decision.events.at(-1);
  return last === undefined ? words : `${words}${whatFollows(decision.events)}`;
}

function whatFollows(events: readonly RunEvent[]): string {
  const last = events.at(-1) as RunEvent;
  switch (last.type) {
    case 'phase_completed':
      return last.next === null ? ' → the end' : ` → \`${last.next}\``;
    case 'gate_opened':
      return ` → the human gate of \`${last.phase}\``;
    case 'run_escalated':
      return last.escalation.reason === 'iterations' ? ' → a human, as the loop is exhausted' : ' → a human';
    case 'run_stopped':
      return ' → stopped';
    default:
      return '';
  }
}
