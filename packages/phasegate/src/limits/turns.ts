import { PhasegateError } from '@phasegate/core';

/** A share of something for each name: anyone who has used theirs up waits for themselves and keeps nobody else. */
export interface Turns {
  /**
   * Waits until this name has a turn free and takes it; the answer gives it back. Throws `rate_limited` where too many
   * of the same name wait already.
   */
  take(name: string): Promise<() => void>;
}

/** How much each name gets. */
export interface Share {
  /** What is shared, for the message, e.g. `searches`. */
  readonly what: string;
  readonly atOnce: number;
  readonly waiting: number;
}

/** Shares something out. */
export function createTurns({ what, atOnce, waiting: most }: Share): Turns {
  const shares = new Map<string, { taken: number; readonly waiting: (() => void)[] }>();

  function give(name: string): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const share = shares.get(name);
      if (share === undefined) return;
      const next = share.waiting.shift();
      if (next !== undefined) {
        next();
        return;
      }
      share.taken -= 1;
      if (share.taken === 0) shares.delete(name);
    };
  }

  return {
    async take(name) {
      const share = shares.get(name) ?? { taken: 0, waiting: [] };
      shares.set(name, share);
      if (share.taken < atOnce) {
        share.taken += 1;
        return give(name);
      }
      if (share.waiting.length >= most) {
        throw new PhasegateError('rate_limited', `\`${name}\` has too many ${what} under way`, {
          hint: 'wait for the ones under way, then call again',
        });
      }
      await new Promise<void>((resolve) => share.waiting.push(resolve));
      return give(name);
    },
  };
}
