import { PhasegateError, type Run } from '@phasegate/core';
import type { Door } from './door.ts';
import { ENGINE } from './engine.ts';
import type { AgentStore } from './ports.ts';

/** Sees to it that nobody who was removed holds anything. */
export interface Presence {
  /** Takes back what an agent has just been given where it was removed meanwhile, and throws. */
  demand(run: Run, agent: string, item?: string): Promise<void>;
}

/**
 * INVARIANT: an agent that was removed holds nothing, at whichever node it was removed and at whichever it claimed. Who
 * removes it releases what it holds after that; what is given to it later than that is seen here, after it was written.
 */
export function createPresence(store: Pick<AgentStore, 'wasRemoved'>, door: Door): Presence {
  return {
    async demand({ id, holder, work }, agent, item) {
      const isItems = item !== undefined && work.items?.[item]?.holder === agent;
      if ((holder !== agent && !isItems) || !(await store.wasRemoved(agent))) return;
      const which = holder !== agent && item !== undefined ? { item } : {};
      const release = { kind: 'release' as const, cause: 'agent_removed' as const, holder: agent, ...which };
      await door.submit(id, release, { principal: ENGINE });
      throw new PhasegateError('not_permitted', `agent \`${agent}\` was removed`);
    },
  };
}
