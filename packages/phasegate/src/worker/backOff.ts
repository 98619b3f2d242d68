/** How long a worker leaves the queue alone after programs that ended at once. */
export interface BackOff {
  /** A program ended at once, without its work done: the wait that follows, and whether it is the first of them. */
  crashed(): { readonly ms: number; readonly first: boolean };
  /** A program worked: the next that crashes is the first again. */
  worked(): void;
  /** What is left of the wait. */
  left(): number;
}

/**
 * What ends at once does so again: each time the wait is twice as long, up to thirty polls. It is for all places of the
 * worker, as one would claim at once what another has just lost.
 */
export function createBackOff(pollMs: number, now: () => number = () => performance.now()): BackOff {
  let crashes = 0;
  let until = 0;
  return {
    crashed() {
      const ms = Math.min(pollMs * 2 ** Math.min(crashes, LONGEST), pollMs * POLLS);
      crashes += 1;
      until = now() + ms;
      return { ms, first: crashes === 1 };
    },
    worked() {
      crashes = 0;
    },
    left: () => until - now(),
  };
}

const POLLS = 30;
/** By then it is as long as it gets. */
const LONGEST = 10;
