import type { HookEvent } from '../../runtime/ports.ts';

/** By which settings a hook was started: the project's, or the user's own. */
export type HookScope = 'project' | 'user';

/** What knows of an event whether it was told before, by the hook in the other settings. */
export interface Pairing {
  /** Whether this is the second telling of an event that is answered once. */
  isSecond(event: HookEvent, scope: HookScope): boolean;
}

/**
 * Builds it. A client whose project and whose user have hooks tells every event twice. Calls of tools are judged each
 * time, which comes to the same; of anything else a card would be shown twice and a stop counted twice.
 */
export function createPairing(now: () => number): Pairing {
  /** Events that were told once, the oldest first. */
  const once = new Map<string, number>();
  return {
    isSecond(event, scope) {
      if (event.event === 'before_tool' || event.event === 'after_tool' || event.event === 'config_change')
        return false;
      const { client, sessionId, event: name, agentId = '' } = event;
      const keyOf = (by: HookScope) => JSON.stringify([client, sessionId, name, agentId, by]);
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
