import type { AgentRecord } from '../ports/agents.ts';
import type { Clause } from './clause.ts';
import { SAMPLE_TIME, sampleDraft } from './samples.ts';

/** What every store must do with agents. */
export const AGENT_CLAUSES: readonly Clause[] = [
  {
    name: 'keeps agents by name, replaces their keys and removes them, and records each',
    async body(store, expect) {
      expect(await store.agents()).toEqual([]);
      await store.putAgent(sampleAgent('eve', 'key-1'), [sampleDraft('agent_added')]);
      await store.putAgent(sampleAgent('ada', 'key-2'), [sampleDraft('agent_added')]);
      await store.putAgent(sampleAgent('eve', 'key-3'), [sampleDraft('agent_added')]);
      expect(await store.agents()).toEqual([sampleAgent('ada', 'key-2'), sampleAgent('eve', 'key-3')]);
      expect(await store.removeAgent('ada', [sampleDraft('agent_removed')])).toBe(true);
      expect(await store.removeAgent('ada', [sampleDraft('agent_removed')])).toBe(false);
      expect(await store.agents()).toEqual([sampleAgent('eve', 'key-3')]);
      await store.putAgent(sampleAgent('ada', 'key-4'), [sampleDraft('agent_added')]);
      await store.putAgent({ ...sampleAgent('eve', 'key-3'), capabilities: null }, [
        sampleDraft('agent_added'),
      ]);
      expect(await store.agents()).toEqual([
        sampleAgent('ada', 'key-4'),
        { ...sampleAgent('eve', 'key-3'), capabilities: null },
      ]);
      const records = await store.history(null, { after: 0, limit: 10 });
      expect(records.map(({ event }) => event)).toEqual([
        'agent_added',
        'agent_added',
        'agent_added',
        'agent_removed',
        'agent_added',
        'agent_added',
      ]);
      expect(records[0]?.data).toEqual({ name: 'eve', keyHash: 'key-1' });
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'knows an agent that was removed from one that is there again and from one that never was',
    async body(store, expect) {
      await store.putAgent(sampleAgent('ada', 'key-1'), [sampleDraft('agent_added')]);
      await store.putAgent(sampleAgent('eve', 'key-2'), [sampleDraft('agent_added')]);
      await store.putAgent(sampleAgent('eve', 'key-3'), [sampleDraft('agent_added')]);
      const removed = async () => Promise.all(['ada', 'eve', 'nobody'].map((name) => store.wasRemoved(name)));
      expect(await removed()).toEqual([false, false, false]);
      await store.removeAgent('ada', [sampleDraft('agent_removed')]);
      expect(await removed()).toEqual([true, false, false]);
      await store.putAgent(sampleAgent('ada', 'key-4'), [sampleDraft('agent_added')]);
      expect(await removed()).toEqual([false, false, false]);
    },
  },
  {
    name: 'puts no agent back that was removed before a time that is given',
    async body(store, expect) {
      const [ada, added] = [sampleAgent('ada', 'key-1'), [sampleDraft('agent_added')]];
      const [early, late] = ['1970-01-01T00:00:00.000Z', '9999-01-01T00:00:00.000Z'];
      expect(await store.putAgent(ada, added, late)).toBe(true);
      expect(await store.putAgent(ada, [], late)).toBe(true);
      await store.removeAgent('ada', [sampleDraft('agent_removed')]);
      expect(await store.putAgent(ada, added, late)).toBe(false);
      expect(await store.agents()).toEqual([]);
      expect(await store.putAgent(ada, added, early)).toBe(true);
      expect(await store.agents()).toEqual([ada]);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
];

/** An agent with a key. */
export function sampleAgent(name: string, keyHash: string): AgentRecord {
  return { name, keyHash, capabilities: ['node'], addedAt: SAMPLE_TIME };
}
