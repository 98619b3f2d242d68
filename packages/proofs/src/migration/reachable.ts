import type { Item, Reachability, Run, RunEvent } from '@phasegate/core/engine';
import { decide } from '@phasegate/core/engine';
import type { JsonObject, PhaseId, Workflow } from '@phasegate/core/model';
import { readParams } from '@phasegate/core/model';
import { type Abstraction, abstractionOf } from '../check/abstractWorkflow.ts';
import { DEFAULT_BOUNDS } from '../check/checkWorkflow.ts';
import { essenceOf, keyBefore } from '../check/essence.ts';
import { type State, startMoves, traceTo, wordsOf } from '../check/explore.ts';
import { keeping, keptIn, sizesIn } from '../check/givenItems.ts';
import { KnownMoves } from '../check/knownMoves.ts';
import type { Marks } from '../check/monitor.ts';
import { AGENT, type Move, NOW } from '../check/moves.ts';
import type { Bounds } from '../check/report.ts';
import { History } from './history.ts';
import { notReached } from './notReached.ts';

/**
 * Whether a run could stand where it does, having been through what it has, under another workflow: a state of that
 * workflow is looked for that is the run's own in all that matters for what can still happen and in every phase and
 * human gate it has passed. What the check takes both ways is taken both ways here too.
 */
export function provesReachable(
  workflow: Workflow,
  run: Run,
  events: readonly RunEvent[],
  bounds: Pick<Bounds, 'states'> = DEFAULT_BOUNDS,
): Reachability {
  if (run.phase === null) return refuted(`run \`${run.id}\` has ended`);
  const read = readParams(workflow.params, run.params);
  if (!read.ok) return refuted(read.problems.join('; '));
  const abstraction = abstractionOf(workflow, DEFAULT_BOUNDS.params);
  const params = triedOf(read.values, abstraction);
  const history = new History(workflow, run);
  const marks = history.of(events);
  const broken = history.brokenIn(marks);
  if (broken.length > 0) return refuted(`the run has already broken ${broken.join(' and ')}`);
  const sizes = sizesIn(read.values, abstraction.lists);
  const here = keeping(standing({ ...run, workflow, params } as Run), { sizes, answers: {} });
  const goal: Goal = { run: here, marks };
  const searching = { abstraction, history, goal, params, maxStates: bounds.states };
  // The way the run itself came is quickly gone again; only where that is no way any more all others are looked at.
  const own = search({ ...searching, path: history.pathOf(events) });
  return own.reachable ? own : search({ ...searching, path: null });
}

/** What is looked for: a run as the check would see it, and what it has passed. */
export interface Goal {
  readonly run: Run;
  readonly marks: Marks;
}

interface Searching {
  readonly abstraction: Abstraction;
  readonly history: History;
  readonly goal: Goal;
  readonly params: JsonObject;
  readonly maxStates: number;
  /** Phases to be entered in this order and no other; null where any way will do. */
  readonly path: readonly PhaseId[] | null;
}

/** How a state was come to. */
interface Came {
  readonly from: number;
  words(): string;
  /** Whether a phase was entered by it. */
  readonly entering: boolean;
}

/** As `explore`, but turns back where a run has more behind it than this one, as nothing is ever undone. */
function search({ abstraction, history, goal, params, maxStates, path }: Searching): Reachability {
  const missing = new Set(
    shapesOf(goal.run).map((shape) => keyBefore(placeOf(shape), goal.marks, abstraction)),
  );
  const states: (State & { readonly entered: number })[] = [];
  const seen = new Set<string>();
  const turnedBack = new Set<string>();
  const moves = new KnownMoves(abstraction, history.monitor);
  let found = -1;
  let bounded = false;
  const reach = (run: Run, marks: Marks, came: Came) => {
    const entered = (states[came.from]?.entered ?? 0) + (came.entering ? 1 : 0);
    if (path !== null && path[entered - 1] !== run.phase) return;
    const key = keyBefore(run, marks, abstraction);
    const place = path === null ? key : `${entered} ${key}`;
    if (run.phase === null || seen.has(place)) return;
    const beyond = history.beyond(marks, goal.marks);
    if (beyond !== null) turnedBack.add(beyond);
    const bare = essenceOf(run, abstraction);
    if (beyond !== null || outruns(bare, goal.run, abstraction.visitCap)) return;
    if (states.length >= maxStates) {
      bounded = true;
      return;
    }
    seen.add(place);
    if (bare.phase === goal.run.phase && missing.delete(keyBefore(placeOf(bare), marks, abstraction)))
      found = states.length;
    states.push({ run: bare, marks, from: came.from, words: came.words(), next: [], entered });
  };
  for (const started of startMoves(abstraction, params)) {
    const words = () => started.words;
    reach(started.run, history.monitor.started(started.run), { from: -1, words, entering: true });
  }
  if (states.length === 0 && turnedBack.size === 0) {
    return refuted('with its params the first phase of the new workflow is not entered');
  }
  for (let place = 0; place < states.length && missing.size > 0; place++) {
    const { run, marks } = states[place] as State;
    const from = place;
    for (const known of moves.of(run)) {
      const after = moves.marksAfter(marks, run, known);
      const entering = known.move.decision.events.some(({ type }) => type === 'phase_completed');
      reach(moves.runAfter(run, known), after, { from, words: () => wordsOf(known.move), entering });
    }
    if (run.phase !== goal.run.phase || marks !== goal.marks) continue;
    for (const move of failures(run)) {
      reach(move.decision.run, marks, { from, words: () => wordsOf(move), entering: false });
    }
  }
  if (missing.size === 0) return { reachable: true, trace: shortened(traceTo(states, found)) };
  if (bounded) return refuted(`looking ended after ${maxStates} states, so nothing is proven`);
  return refuted(notReached({ goal, states, turnedBack, history, abstraction }));
}

/** The params that decide something by themselves; a run of the check has no others. */
function triedOf(params: JsonObject, { tried }: Abstraction): JsonObject {
  return Object.fromEntries(Object.entries(params).filter(([name]) => tried.has(name)));
}

/**
 * Nobody holds a queued run and one with questions waits, but both go on where they are; where all that is left of the
 * items was lost meanwhile, to a human.
 */
function standing(run: Run): Run {
  const paused = run.status === 'queued' || (run.status === 'waiting' && run.wait.for === 'questions');
  if (!paused) return run;
  const open = Object.values(run.work.items ?? {}).filter(({ status }) => status !== 'completed');
  if (open.length === 0 || open.some(({ status }) => status !== 'failed'))
    return { ...run, status: 'active', phase: run.phase } as Run;
  const escalation = { reason: 'attempts', message: '', since: run.updatedAt, blockers: [] };
  return { ...run, status: 'escalated', escalation } as unknown as Run;
}

/**
 * The check makes up to two items. Items do not know of each other, so a run with more is one of the check's for each of
 * them beside the one that is furthest behind.
 */
function shapesOf(run: Run): readonly Run[] {
  const { items } = run.work;
  if (items === null) return [run];
  const [last, ...others] = Object.values(items).sort((one, other) => progressOf(one) - progressOf(other));
  if (last === undefined || others.length === 0) return [run];
  return others.map((first) => ({ ...run, work: { ...run.work, items: { first, second: last } } }) as Run);
}

/**
 * Where a run stands, without what only says how soon a human is asked: failed attempts, which may come of work that
 * the check leaves out, and answers that are given once.
 */
function placeOf(run: Run): Run {
  const { owed: _, ...rest } = keeping(run, { ...keptIn(run), answers: {} });
  const items =
    run.work.items === null
      ? null
      : Object.fromEntries(
          Object.entries(run.work.items).map(([key, item]) => [key, { ...item, attempts: 0 }]),
        );
  return { ...rest, work: { ...run.work, attempts: 0, items } } as Run;
}

function progressOf({ status, attempts }: Item): number {
  return status === 'completed' ? 20 : status === 'failed' ? 10 : Math.min(attempts, 9);
}

/** Counters only grow, so a state with more of them does not lead to this run. */
function outruns(bare: Run, goal: Run, visitCap: number): boolean {
  return (
    Object.entries(bare.visits).some(([id, count]) => count > Math.min(goal.visits[id] ?? 0, visitCap)) ||
    Object.entries(bare.iterations).some(([id, count]) => count > (goal.iterations[id] ?? 0))
  );
}

/** Work may come to nothing in any phase, which the check leaves out as it leads nowhere else. */
function failures(run: Run): readonly Move[] {
  if (run.status !== 'active') return [];
  const command = { kind: 'report_failure' as const, phase: run.phase, reason: 'it failed' };
  const circumstance = { principal: AGENT, now: NOW, facts: {} };
  const pending = Object.entries(run.work.items ?? {}).filter(([, { status }]) => status === 'pending');
  const items = pending.length === 0 ? [{}] : pending.map(([item]) => ({ item }));
  return items.map((item) => ({
    decision: decide(run, { ...command, ...item }, circumstance),
    words: `the work of \`${run.phase}\` fails`,
  }));
}

/** A proof is kept with the run, and a run may have gone round its loops many times. */
const LONGEST_TRACE = 100;

function shortened(trace: readonly string[]): readonly string[] {
  if (trace.length <= LONGEST_TRACE) return trace;
  const last = trace.slice(1 - LONGEST_TRACE);
  return [`${trace.length - last.length} steps`, ...last];
}

function refuted(reason: string): Reachability {
  return { reachable: false, reason };
}
