/** Work on a document that may be interrupted after each of its steps, so that a server can answer others. */
export type Steps<Result> = Generator<undefined, Result>;

/** After this many lines, or as many other things of that size, work may be interrupted. */
export const LINES_PER_STEP = 2048;

/** Does all of the work without a pause. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does the work step by step; `breathe` is asked after each and says how long to wait, if at all. */
export async function inSteps<Result>(steps: Steps<Result>, breathe: Breathe): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await breathe();
  }
}

/** Lets others have their turn when it is time. */
export type Breathe = () => Promise<void> | undefined;

/** Lets others have their turn whenever some milliseconds went by, however much was done in them. */
export function createBreathe(now: () => number = () => performance.now()): Breathe {
  let since = now();
  return () => {
    if (now() - since < MOST_MS) return undefined;
    return new Promise((resume) =>
      setImmediate(() => {
        since = now();
        resume();
      }),
    );
  };
}

const MOST_MS = 10;
