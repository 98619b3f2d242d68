import { isLoopback } from './address.ts';

/**
 * Judges passphrases. Whose passphrase it is counts, and not where the try comes from: each human's tries are judged one
 * at a time, the sources in turn. A wrong one is answered later and later; a right one is never held up by those, so
 * that nobody can lock a human out by failing in their name.
 */
export interface PassphraseTries {
  /** Judges when its turn has come. `judge` gives null for a wrong one. Gives `'full'` where the source has too many. */
  take<T>(from: TrySource, judge: () => Promise<T | null>): Promise<T | null | 'full'>;
  /** Answers everything that is held. */
  close(): void;
}

/** Whose passphrase is tried, and by whom. */
export interface TrySource {
  readonly human: string;
  /** An address, or a session. All of loopback is one. */
  readonly source: string;
}

/** What time is to it. */
export interface TryClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Default: timers. */
  readonly later?: ((milliseconds: number) => Promise<void>) | undefined;
}

/** The tries of one server. */
export function createPassphraseTries({ now, later }: TryClock): PassphraseTries {
  const lanes = new Map<string, Lane>();
  const timers = createTimers();
  const wait = later ?? timers.wait;

  function laneOf(human: string): Lane {
    const lane = lanes.get(human) ?? {
      waiting: new Map(),
      inHand: new Map(),
      judging: false,
      wrong: 0,
      last: 0,
    };
    lanes.set(human, lane);
    if (now() - lane.last > QUIET) lane.wrong = 0;
    return lane;
  }

  /** How long the answer to a wrong one is held: two seconds more with each after the fifth. */
  function heldFor(lane: Lane): number {
    lane.wrong += 1;
    lane.last = now();
    return Math.min(Math.max(0, lane.wrong - FREE) * STEP, LONGEST);
  }

  return {
    async take({ human, source: given }, judge) {
      const source = isLoopback(given) ? 'loopback' : given;
      const lane = laneOf(human);
      const inHand = lane.inHand.get(source) ?? 0;
      if (inHand >= MOST_IN_HAND || (inHand === 0 && lane.inHand.size >= MOST_SOURCES)) return 'full';
      lane.inHand.set(source, inHand + 1);
      try {
        await turn(lane, source);
        const judged = await judge().finally(() => {
          lane.judging = false;
          next(lane);
        });
        const held = judged === null ? heldFor(lane) : 0;
        if (held > 0) await wait(held);
        return judged;
      } finally {
        const left = (lane.inHand.get(source) ?? 1) - 1;
        if (left > 0) lane.inHand.set(source, left);
        else lane.inHand.delete(source);
      }
    },
    close: timers.close,
  };
}

/** Wrong ones that are answered at once. */
const FREE = 5;
const STEP = 2_000;
/** With this and the next limit, who has the right one waits for less than ten seconds. */
const LONGEST = 8_000;
const MOST_IN_HAND = 64;
const MOST_SOURCES = 64;
/** After this long without a wrong one, all is forgotten. */
const QUIET = 10 * 60_000;

interface Lane {
  /** By source, in the order of their turns. */
  readonly waiting: Map<string, (() => void)[]>;
  /** How many tries of each source wait or are held. */
  readonly inHand: Map<string, number>;
  judging: boolean;
  wrong: number;
  last: number;
}

function turn(lane: Lane, source: string): Promise<void> {
  return new Promise((go) => {
    const mine = lane.waiting.get(source);
    if (mine === undefined) lane.waiting.set(source, [go]);
    else mine.push(go);
    next(lane);
  });
}

function next(lane: Lane): void {
  if (lane.judging) return;
  const [first] = lane.waiting;
  if (first === undefined) return;
  const [source, [go, ...others]] = first;
  // To the end of the line: a source with many tries waits for each of the others between two of its own.
  lane.waiting.delete(source);
  if (others.length > 0) lane.waiting.set(source, others);
  lane.judging = true;
  go?.();
}

function createTimers() {
  const held = new Map<NodeJS.Timeout, () => void>();
  return {
    wait: (milliseconds: number) =>
      new Promise<void>((go) => {
        const timer = setTimeout(() => {
          held.delete(timer);
          go();
        }, milliseconds);
        held.set(timer, go);
      }),
    close() {
      for (const [timer, go] of held) {
        clearTimeout(timer);
        go();
      }
      held.clear();
    },
  };
}
