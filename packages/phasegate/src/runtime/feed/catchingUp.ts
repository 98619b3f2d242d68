/** Resolves after that many milliseconds, or when the signal comes first. */
export type Later = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Gives a page when it is its turn. */
export type CatchingUp = <T>(page: () => Promise<readonly T[]>) => Promise<readonly T[]>;

/**
 * Lets those who are behind have a page each, one after the other, with a rest after each page: they leave most of the
 * time to others, however many they are. INVARIANT: the next one waits for a page to be read, and for nobody who takes
 * long to hear it; a store that does not answer holds the line for a while and not for good.
 */
export function createCatchingUp(later: Later = timer): CatchingUp {
  let line: Promise<void> = Promise.resolve();
  return (page) => {
    const before = line.then(() => performance.eventLoopUtilization());
    const mine = before.then(page);
    line = before.then(async (begun) => {
      const over = new AbortController();
      const count = await Promise.race([
        mine.then(
          ({ length }) => length,
          () => 0,
        ),
        later(LONGEST_READ_MS, over.signal).then(() => 0),
      ]);
      over.abort();
      // Nothing was read for one that left meanwhile.
      if (count === 0) return;
      // What is told at once is part of the page.
      await new Promise<void>((resolve) => void setImmediate(resolve));
      const { active } = performance.eventLoopUtilization(begun);
      await later(Math.min(Math.ceil(REST * active), LONGEST_REST_MS));
    });
    return mine;
  };
}

/** For every millisecond the server was busy with a page, this many before the next. */
const REST = 3;
/** Also how long a process may go on after its last listener stopped. */
const LONGEST_REST_MS = 250;
/** Far longer than a page takes of a store that answers. */
const LONGEST_READ_MS = 10_000;

function timer(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = setTimeout(resolve, milliseconds);
    const abort = () => {
      clearTimeout(end);
      resolve();
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}
