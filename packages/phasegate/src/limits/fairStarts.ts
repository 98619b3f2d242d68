/**
 * Has requests of many names begin fairly: in one turn of the event loop one of each name. Anyone who sends many at once
 * waits for themselves; without this everybody else's next request would wait for all of them.
 */
export interface FairStarts {
  /** Null where the request may begin now; else it may when the promise settles. */
  begin(name: string): Promise<void> | null;
}

/** Requests of one server. */
export function createFairStarts(): FairStarts {
  // Has every name of which one began in this turn.
  const begun = new Map<string, (() => void)[]>();

  function nextTurn(): void {
    for (const [name, waiting] of begun) {
      const next = waiting.shift();
      if (next === undefined) begun.delete(name);
      else next();
    }
    if (begun.size > 0) setImmediate(nextTurn);
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
