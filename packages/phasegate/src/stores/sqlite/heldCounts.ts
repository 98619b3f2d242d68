import type { Run } from '@phasegate/core';
import { UNFINISHED_STATUSES } from '@phasegate/core/contract';

/** How many unfinished runs agents hold. Every start asks, so a count is kept and carried on with each write. */
export interface HeldCounts {
  /** Counted up to `most`. */
  of(agent: string, most: number): number;
  /** The batch makes a run into this; before, it was that or nothing. */
  placed(before: Run | undefined, after: Run): void;
  /** To be called when another process may have written. */
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** Keeps counts over a way to count. */
export function createHeldCounts(count: (agent: string, most: number) => number): HeldCounts {
  const known = new Map<string, number>();
  const changes = new Map<string, number>();

  function change(agent: string | null, by: number): void {
    if (agent !== null && known.has(agent)) changes.set(agent, (changes.get(agent) ?? 0) + by);
  }

  return {
    of(agent, most) {
      const kept = known.get(agent);
      if (kept !== undefined) return Math.min(most, kept);
      const counted = count(agent, most);
      if (known.size >= MOST_KEPT) known.clear();
      // There may be more where it was not counted further.
      if (counted < most) known.set(agent, counted);
      return counted;
    },
    placed(before, after) {
      if (before !== undefined) change(holderOf(before), -1);
      change(holderOf(after), 1);
    },
    doubt() {
      known.clear();
      changes.clear();
    },
    committed() {
      for (const [agent, by] of changes) known.set(agent, (known.get(agent) ?? 0) + by);
      changes.clear();
    },
    discarded() {
      known.clear();
      changes.clear();
    },
  };
}

const MOST_KEPT = 1000;
const UNFINISHED: ReadonlySet<Run['status']> = new Set<Run['status']>(UNFINISHED_STATUSES);

/** Who holds a run that is not finished. */
function holderOf({ holder, status }: Run): string | null {
  return UNFINISHED.has(status) ? holder : null;
}
