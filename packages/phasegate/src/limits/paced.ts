import { createTurns } from './turns.ts';

/**
 * Work that keeps the whole server busy, one piece of each name at a time and with a rest after it: a caller of one
 * after the other leaves most of the time to others.
 */
export interface Paced {
  /** Throws `rate_limited` where too many of the same name wait already. */
  act<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** What is paced, and how. */
export interface Pace {
  /** For the message, e.g. `searches`. */
  readonly what: string;
  /** How many of one name may wait. */
  readonly waiting: number;
  /** Resolves after that many milliseconds. Default: timers. */
  readonly later?: ((milliseconds: number) => Promise<void>) | undefined;
}

/** Paces work. */
export function createPaced({ what, waiting, later = timer }: Pace): Paced {
  const turns = createTurns({ what, atOnce: 1, waiting });
  return {
    async act(name, work) {
      const end = await turns.take(name);
      const before = performance.eventLoopUtilization();
      try {
        return await work();
      } finally {
        const { active } = performance.eventLoopUtilization(before);
        void later(Math.min(Math.ceil(REST * active), LONGEST_REST_MS)).then(end);
      }
    },
  };
}

/** For every millisecond the server was busy meanwhile, this many before the next of the same name. */
const REST = 3;
const LONGEST_REST_MS = 2000;

function timer(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref());
}
