/**
 * Has requests of many names begin fairly: one of each name after the other, for as long in a turn of the event loop as
 * nobody notices. Anyone who sends many at once waits for themselves; without this everybody else's next request would
 * wait for all of them.
 */
export interface FairStarts {
  /** Null where the request may begin now; else it may when the promise settles. */
  begin(name: string): Promise<void> | null;
}

/**
 * Requests of one server whose work is done, for the most part, right where they begin. A turn with a single request in
 * it costs about as much as the request, and what those who begin together need of the workspace is looked at once for
 * all of them.
 */
export function createFairStarts(now: () => number = () => performance.now()): FairStarts {
  // Has every name of which one began in this turn.
  const begun = new Map<string, (() => void)[]>();
  let until = 0;

  function nextTurn(): void {
    for (const [name, waiting] of begun) if (waiting.length === 0) begun.delete(name);
    if (begun.size === 0) return;
    until = now() + TURN_MS;
    nextRound();
  }

  function nextRound(): void {
    let isAnyLeft = false;
    for (const waiting of begun.values()) {
      waiting.shift()?.();
      isAnyLeft ||= waiting.length > 0;
    }
    // A microtask comes after what those who began now do at once, so that the time it takes is counted.
    if (isAnyLeft) queueMicrotask(goOn);
    else setImmediate(nextTurn);
  }

  function goOn(): void {
    if (now() < until) nextRound();
    else setImmediate(nextTurn);
  }

  return {
    begin(name) {
      const waiting = begun.get(name);
      if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
      begun.set(name, []);
      if (begun.size === 1) setImmediate(nextTurn);
      return null;
    },
  };
}

/**
 * Requests whose work comes in later turns, where no clock at their beginning sees it: one of each name in a turn. Were
 * more let in, all that one name waits with would stand before everybody else's, and above limits that it never met.
 */
export function createSingleStarts(): FairStarts {
  return createFairStarts(() => Number.POSITIVE_INFINITY);
}

/** A hundredth of what a tool check may take. */
const TURN_MS = 1;
