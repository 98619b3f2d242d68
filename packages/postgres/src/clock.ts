/** The time of the database, as a node knows it without asking each time. */
export interface DatabaseClock {
  /** Milliseconds since 1970; never less than before. */
  now(): number;
  /** The database said that it is this late. */
  told(milliseconds: number): void;
}

/**
 * Goes on from what the database said last by a clock that counts and that nobody sets. The clock of the node's own
 * machine has no part in it: it may be an hour off, or be put back. What the database says is a little old when it is
 * heard, never too new, so the newest word counts that is later than what went before.
 */
export function createDatabaseClock(counted: () => number = () => performance.now()): DatabaseClock {
  let offset = Number.NaN;
  let last = Number.NEGATIVE_INFINITY;
  let heard = Number.NEGATIVE_INFINITY;
  return {
    now() {
      last = Math.max(last, Math.floor(counted() + offset));
      return last;
    },
    told(milliseconds) {
      if (!Number.isFinite(milliseconds)) return;
      const [count, fresh] = [counted(), milliseconds - counted()];
      // After a while without word the counting may have drifted, or the machine slept: then the newest word counts.
      if (Number.isNaN(offset) || fresh > offset || count - heard > STALE) {
        offset = fresh;
        heard = count;
      }
    },
  };
}

const STALE = 60_000;
