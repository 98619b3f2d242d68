/** Work that is done one piece after the other, each name in its turn. */
export interface ByTurns {
  /** Does the work when it is this name's turn, and gives what came of it. */
  act<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Takes one piece of work of each name in turn: anyone who asks for many at once waits for themselves, and everybody else
 * for one piece of theirs.
 */
export function createByTurns(): ByTurns {
  // Of the names that wait, the one whose turn is next comes first.
  const waiting = new Map<string, (() => void)[]>();
  let isBusy = false;

  function goOn(): void {
    for (const [name, [next, ...others]] of waiting) {
      waiting.delete(name);
      if (others.length > 0) waiting.set(name, others);
      next?.();
      return;
    }
    isBusy = false;
  }

  return {
    async act(name, work) {
      if (isBusy)
        await new Promise<void>((resolve) => {
          const mine = waiting.get(name);
          if (mine === undefined) waiting.set(name, [resolve]);
          else mine.push(resolve);
        });
      isBusy = true;
      try {
        return await work();
      } finally {
        goOn();
      }
    },
  };
}
