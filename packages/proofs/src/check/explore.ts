import type { PhaseWork, Run, RunEvent } from '@phasegate/core/engine';
import { decideStart, forAnyone } from '@phasegate/core/engine';
import { canonicalJson, type JsonObject } from '@phasegate/core/model';
import type { Abstraction } from './abstractWorkflow.ts';
import { essenceOf, keyBefore } from './essence.ts';
import { keeping, SIZES, sizeWords, startSizes } from './givenItems.ts';
import { KnownMoves } from './knownMoves.ts';
import type { Marks, Monitor } from './monitor.ts';
import { AGENT, type Move, NOW } from './moves.ts';
import { possibleTruth } from './partialTruth.ts';
import { conditionOf } from './phaseConditions.ts';

export { essenceOf, keyOf } from './essence.ts';

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

/** How far to look, and who is told how far it has come. */
export interface Exploring {
  readonly maxStates: number;
  readonly progress?: ((states: number) => void) | undefined;
}

const TOLD_EVERY = 200;

/** Walks every state breadth first, so that the way a state was first reached is the shortest there is. */
export function explore(
  abstraction: Abstraction,
  monitor: Monitor,
  { maxStates, progress }: Exploring,
): Explored {
  const states: State[] = [];
  const places = new Map<string, number>();
  let transitions = 0;
  let complete = true;
  // Most ways lead to a state that is known: only of a new one are the run and the words made.
  const reach = (run: Run, marks: Marks, came: { readonly from: number; words(): string }): number => {
    const key = keyBefore(run, marks, abstraction);
    const known = places.get(key);
    if (known !== undefined) return known;
    if (states.length >= maxStates) {
      complete = false;
      return -1;
    }
    places.set(key, states.length);
    states.push({
      run: essenceOf(run, abstraction),
      marks,
      from: came.from,
      words: came.words(),
      next: [],
    });
    return states.length - 1;
  };
  for (const params of abstraction.starts) {
    for (const started of startMoves(abstraction, params)) {
      reach(started.run, monitor.started(started.run), { from: -1, words: () => started.words });
    }
  }
  const moves = new KnownMoves(abstraction, monitor);
  for (let place = 0; place < states.length; place++) {
    if (place % TOLD_EVERY === 0) progress?.(states.length);
    const state = states[place] as State;
    for (const known of moves.of(state.run)) {
      transitions++;
      const marks = moves.marksAfter(state.marks, state.run, known);
      const reached = reach(moves.runAfter(state.run, known), marks, {
        from: place,
        words: () => wordsOf(known.move),
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

/** The runs these params start, where they may start at all. */
export function startMoves(abstraction: Abstraction, params: JsonObject) {
  const { workflow } = abstraction;
  if (isRefused(abstraction, params)) return [];
  // What else its first phase asks beforehand holds: nothing can be said of a run that never was.
  const entry = workflow.phases.map((phase) =>
    phase.id === workflow.entry ? { ...phase, preconditions: [], parallel: null } : phase,
  );
  const decision = decideStart(
    {
      id: 'run',
      workflow: { ...forAnyone(workflow), phases: entry },
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
  const { run } = decision;
  if (run === null) return [];
  const list = abstraction.lists.get(workflow.entry);
  return startSizes(abstraction.lists).flatMap((sizes) => {
    const counts = list === undefined ? [null] : list.param === null ? SIZES : [sizes[list.name] as number];
    return counts.map((count) => {
      const items = count === null ? null : itemsOf(count);
      const told = {
        ...sizes,
        ...(list?.param === null && count !== null ? { [workflow.entry]: count } : {}),
      };
      const started = { ...run, workflow, work: { ...run.work, items } } as Run;
      return { run: keeping(started, { sizes, answers: {} }), words: [words, ...sizeWords(told)].join(', ') };
    });
  });
}

/** True where the params alone keep the first phase from being entered. */
function isRefused({ workflow, tried }: Abstraction, params: JsonObject): boolean {
  if (workflow.enforcement.mode === 'permissive') return false;
  const preconditions = workflow.phases.find(({ id }) => id === workflow.entry)?.preconditions ?? [];
  return preconditions.some((check) => {
    const expression = check.use === 'expression' ? conditionOf(check) : null;
    return expression !== null && !possibleTruth(expression, { params, tried, iteration: 1 }).yes;
  });
}

function itemsOf(count: number): PhaseWork['items'] {
  const item = { status: 'pending' as const, evidence: null, attempts: 0, error: null };
  const names = ['first', 'second'].slice(0, count);
  return Object.fromEntries(names.map((value) => [value, { ...item, value }]));
}

/** A move and where it leads, in words. */
export function wordsOf({ words, decision }: Move): string {
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
