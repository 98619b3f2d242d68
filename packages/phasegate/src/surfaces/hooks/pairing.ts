import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@phasegate/core';
import type { HookClient, HookEvent } from '../../runtime/ports.ts';

/** By which settings a hook was started: the project's, or the user's own. */
export type HookScope = 'project' | 'user';

/** What knows of an event whether it was told before, by the hook in the other settings. */
export interface Pairing {
  /** Whether this is the second telling of an event, with all that it says. */
  isSecond(event: HookEvent, told: Told): boolean;
}

/** How an event was told. */
export interface Told {
  readonly scope: HookScope;
  readonly payload: JsonObject;
}

/**
 * Builds it. A client whose project and whose user have hooks tells every event twice. Calls of tools are judged each
 * time, which comes to the same; of anything else a card would be shown twice and a stop counted twice. By which
 * settings a hook was started is the word of the one who starts it, which may be the agent: only an event that says the
 * very same is taken for the second, and no transcript goes unread for it.
 */
export function createPairing(now: () => number, isPaired: (client: HookClient) => boolean): Pairing {
  /** Events that were told once, the oldest first. */
  const once = new Map<string, number>();
  return {
    isSecond(event, { scope, payload }) {
      if (event.event === 'before_tool' || event.event === 'after_tool' || event.event === 'config_change')
        return false;
      if (!isPaired(event.client)) return false;
      const { client, sessionId, event: name, agentId = '', run = '' } = event;
      const { timestamp: _, ...said } = payload;
      const sum = createHash('sha256').update(canonicalJson(said)).digest('hex');
      const keyOf = (by: HookScope) => JSON.stringify([client, sessionId, name, agentId, run, sum, by]);
      const other = keyOf(scope === 'user' ? 'project' : 'user');
      const at = once.get(other);
      once.delete(other);
      if (at !== undefined && Math.abs(now() - at) < TOGETHER_MS) return true;
      once.set(keyOf(scope), now());
      for (const oldest of once.keys()) {
        if (once.size <= MOST) break;
        once.delete(oldest);
      }
      return false;
    },
  };
}

/** Both are started at once; on a busy machine one may be late. */
const TOGETHER_MS = 30_000;
const MOST = 1000;
