import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from 'hono';
import { createByTurns } from '../../limits/byTurns.ts';
import type { FairStarts } from '../../limits/fairStarts.ts';
import { createTurns } from '../../limits/turns.ts';
import { addressOf } from './address.ts';
import { MOST_UNDER_WAY } from './hotRoutes.ts';
import type { RestEnv } from './parts.ts';
import { RequestRefused } from './problem.ts';

/**
 * Where requests wait for their turn before the store is asked about them. Nobody is answered without one: what is
 * refused costs the server as much as what is served.
 */
export interface Lines {
  /** Does a principal's request in its turn, and counts it until it is over. Throws `rate_limited`. */
  as<T>(name: string, work: () => Promise<T>): Promise<T>;
  /**
   * The same for a token of an agent that may have ended. They have a line beside the agent's own: the one who found an
   * old token does not stand before the agent that has the new one.
   */
  asPerhapsEnded<T>(agent: string, work: () => Promise<T>): Promise<T>;
  /**
   * Does what is to be done for one whom nobody vouches for: one look at the store at a time in all, by turns of where
   * they come from. Throws `rate_limited` where too many from there, or in all, wait already.
   */
  asStranger<T>(c: Context<RestEnv>, as: Stranger, work: () => Promise<T>): Promise<T>;
}

/** Why nobody vouches for it; each has room of its own, so that guesses keep no human from signing in. */
export type Stranger =
  /** A credential that is not good, or a request that no guard lets pass. */
  | 'refused'
  /** A session that was not seen before. */
  | 'session'
  | 'signing in'
  /** No credential at all. */
  | 'nobody';

/** The lines of one server. */
export function createLines(starts: FairStarts): Lines {
  const underWay = createTurns({ what: 'requests', atOnce: MOST_UNDER_WAY, waiting: 0 });
  const ended = createTurns({ what: 'tokens to look at', atOnce: MOST_UNDER_WAY, waiting: 0 });
  // A look at a store that is slow, or away, holds up those alone who wait to be looked at.
  const [looks, others] = [createByTurns(), createByTurns()];
  const waiting = new Map<string, number>();

  /** Counts one that waits, in each of these, if all of them have room for it; the answer takes it back. */
  function join(counts: readonly (readonly [name: string, most: number])[]): () => void {
    if (counts.some(([name, most]) => (waiting.get(name) ?? 0) >= most)) throw tooMany();
    const change = (by: number) => {
      for (const [name] of counts) {
        const now = (waiting.get(name) ?? 0) + by;
        if (now === 0) waiting.delete(name);
        else waiting.set(name, now);
      }
    };
    change(1);
    return () => change(-1);
  }

  return {
    async as(name, work) {
      const end = await underWay.take(name);
      try {
        await starts.begin(name);
        return await work();
      } finally {
        end();
      }
    },

    async asPerhapsEnded(agent, work) {
      const end = await orTurnedAway(() => ended.take(agent));
      try {
        await starts.begin(`${PERHAPS_ENDED}${agent}`);
        return await work();
      } finally {
        end();
      }
    },

    async asStranger(c, given, work) {
      // Nobody signs in through the socket of an agent: agents do not take the places of those who do.
      const as = c.env?.peer === undefined ? given : 'refused';
      const name = `${as} ${sourceOf(c)}`;
      const leave = await orTurnedAway(() =>
        join([
          [name, MOST_OF_SOURCE],
          [as, MOST_STRANGERS],
        ]),
      );
      try {
        const byTurns = as === 'refused' || as === 'session' ? looks : others;
        return await byTurns.act(name, async () => {
          await starts.begin(STRANGERS);
          return await work();
        });
      } finally {
        leave();
      }
    },
  };
}

/**
 * Where there is no room, that is said after a while: who asks in a loop on some hundred connections would have the server
 * say so all the time, and everybody waits for that. A connection has one request at a time, so it costs a timer each.
 */
async function orTurnedAway<T>(take: () => T | Promise<T>): Promise<T> {
  try {
    return await take();
  } catch (error) {
    await pause(TURNED_AWAY_MS);
    throw error;
  }
}

const TURNED_AWAY_MS = 500;

/** For what is refused, or let pass, as soon as it is its turn. */
export async function nothing(): Promise<void> {}

/** No principal can be called this. */
const STRANGERS = 'strangers:';
const PERHAPS_ENDED = 'ended:';

/** As many as wait for a passphrase from one source. */
const MOST_OF_SOURCE = 64;
const MOST_STRANGERS = 256;

/** Through the socket of an agent comes nobody else, and no address. */
function sourceOf(c: Context<RestEnv>): string {
  const peer = c.env?.peer;
  return peer === undefined ? addressOf(c) : `socket ${peer}`;
}

function tooMany(): RequestRefused {
  return new RequestRefused('rate_limited', 'too many requests that nobody vouches for wait here already', {
    headers: { 'retry-after': '1' },
    hint: 'call again after the seconds of `Retry-After`',
  });
}
