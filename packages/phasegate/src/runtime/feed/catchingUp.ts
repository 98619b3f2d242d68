/** Resolves after that many milliseconds. */
export type Later = (milliseconds: number) => Promise<void>;

/** Gives a page when it is its turn. */
export type CatchingUp = <T>(page: () => Promise<readonly T[]>) => Promise<readonly T[]>;

/**
 * Lets those who are behind have a page each, one after the other, with a rest after each page: they leave most of the
 * time to others, however many they are. INVARIANT: the next one waits for a page to be read, and for nobody who takes
 * long to hear it.
 */
export function createCatchingUp(later: Later = timer): CatchingUp {
  let line: Promise<void> = Promise.resolve();
  return (page) => {
    let before: ReturnType<typeof performance.eventLoopUtilization> | undefined;
    const mine = line.then(() => {
      before = performance.eventLoopUtilization();
      return page();
    });
    line = mine.then(
      async ({ length }) => {
        // Nothing was read for one that left meanwhile.
        if (length === 0) return;
        // What is told at once is part of the page.
        await new Promise<void>((resolve) => void setImmediate(resolve));
        const { active } = performance.eventLoopUtilization(before);
        await later(Math.min(Math.ceil(REST * active), LONGEST_REST_MS));
      },
      () => undefined,
    );
    return mine;
  };
}

/** For every millisecond the server was busy with a page, this many before the next. */
const REST = 3;
/** Also how long a process may go on after its last listener stopped. */
const LONGEST_REST_MS = 250;

function timer(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}
