import type { RunEvent } from '@phasegate/core/engine';
import { apply, type Run, timesOf } from '@phasegate/core/engine';
import type { Abstraction } from './abstractWorkflow.ts';
import { localKeyOf } from './essence.ts';
import type { Marks, Monitor } from './monitor.ts';
import { type Move, movesOf } from './moves.ts';

/** A move that was decided, for every run it is the same for. */
export interface KnownMove {
  readonly move: Move;
  /** What a run has reached and passed after it. */
  readonly marks: Map<Marks, Marks>;
}

/**
 * What can happen to a run, decided once for all runs that differ only in how often the loops of other phases went
 * back: no decision reads those, and the engine is given a run without them, so none can.
 */
export class KnownMoves {
  readonly #known = new Map<string, readonly KnownMove[]>();
  readonly #abstraction: Abstraction;
  readonly #monitor: Monitor;

  constructor(abstraction: Abstraction, monitor: Monitor) {
    this.#abstraction = abstraction;
    this.#monitor = monitor;
  }

  /** Every move of a bare run. */
  of(bare: Run): readonly KnownMove[] {
    const key = localKeyOf(bare);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const own = bare.phase === null ? 0 : timesOf(bare.iterations, bare.phase);
    const local = { ...bare, iterations: own === 0 ? {} : { [String(bare.phase)]: own } };
    const moves = movesOf(local, this.#abstraction).map((move) => ({ move, marks: new Map() }));
    this.#known.set(key, moves);
    return moves;
  }

  /** The run after a move. */
  runAfter(bare: Run, { move }: KnownMove): Run {
    const after = move.decision.events.reduce((run: Run, event: RunEvent) => apply(run, event), bare);
    return { ...after, state: move.decision.run.state };
  }

  /** Its marks after a move. */
  marksAfter(before: Marks, bare: Run, { move, marks }: KnownMove): Marks {
    const known = marks.get(before);
    if (known !== undefined) return known;
    const after = this.#monitor.after(before, bare, move.decision.events);
    marks.set(before, after);
    return after;
  }
}
