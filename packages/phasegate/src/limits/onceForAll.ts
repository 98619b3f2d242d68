/**
 * Makes one answer at a time, for all who have asked by then, with a rest after it: what anybody may ask for, and is dear
 * to make, is made seldom however many ask. Nobody gets an answer that was begun before they asked.
 */
export function onceForAll<T>(
  make: () => Promise<T>,
  later: (milliseconds: number) => Promise<void> = timer,
): () => Promise<T> {
  /** The answer under way, and the rest after it. */
  let busy: Promise<void> | null = null;
  let next: Promise<T> | null = null;

  function begin(): Promise<T> {
    next = null;
    const begun = performance.now();
    const made = make();
    const rest = () => later(Math.min(REST * (performance.now() - begun), LONGEST_REST_MS));
    const mine = made.then(rest, rest).then(() => {
      if (busy === mine) busy = null;
    });
    busy = mine;
    return made;
  }

  return () => {
    if (next !== null) return next;
    if (busy === null) return begin();
    next = busy.then(begin);
    return next;
  };
}

/** For every millisecond that one took, this many before the next. */
const REST = 3;
const LONGEST_REST_MS = 1000;

function timer(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref());
}
