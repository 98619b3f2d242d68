import type { CallRecord } from '../ports/calls.ts';
import type { Store } from '../ports/store.ts';
import { type Clause, create } from './clause.ts';
import { afterDraft, SAMPLE_TIME, sampleDraft } from './samples.ts';

/** What every store must do with the tool calls under way. */
export const CALL_CLAUSES: readonly Clause[] = [
  {
    name: 'keeps a call under way with the verdict that allowed it, until its end is recorded',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      const call = sampleCall();
      expect(await store.beginCall(call, 1, [sampleDraft('tool_judged')])).toBe(true);
      expect(await store.calls('r1', null)).toEqual({ under: [call], begun: 1 });
      expect(await store.calls('r2', null)).toEqual(NONE);
      await store.endCall(call, [sampleDraft('tool_executed')]);
      expect(await store.calls('r1', null)).toEqual({ under: [], begun: 1 });
      expect(await eventsOf(store)).toEqual(['run_started', 'tool_judged', 'tool_executed']);
      await store.endCall(call, []);
      expect(await store.verify()).toMatchObject({ ok: true });
    },
  },
  {
    name: 'begins no call in a run that is not as it was when the call was judged, and notes nothing',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const [moved, began] = await Promise.all([
        store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]),
        store.beginCall(sampleCall(), 1, [sampleDraft('tool_judged')]),
      ]);
      expect([moved, began]).toEqual([true, false]);
      expect(await store.beginCall(sampleCall({ run: 'nobody' }), 1, [])).toBe(false);
      expect(await store.calls('r1', null)).toEqual(NONE);
      expect(await eventsOf(store)).toEqual(['run_started', 'phase_completed']);
    },
  },
  {
    name: 'writes no run under a call that must be over first, although its version stands',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const all = { calls: { item: null, void: [] } };
      const [began, moved] = await Promise.all([
        store.beginCall(sampleCall(), 1, []),
        store.save(afterDraft(run), 1, [sampleDraft('phase_completed')], all),
      ]);
      expect([began, moved]).toEqual([true, false]);
      expect(await eventsOf(store)).toEqual(['run_started']);
      await store.endCall(sampleCall(), []);
      expect(await store.save(afterDraft(run), 1, [], all)).toBe(true);
    },
  },
  {
    name: 'writes no run where a call came and went since it was looked',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const { begun } = await store.calls('r1', null);
      const ofItem = (await store.calls('r1', 'b')).begun;
      await store.beginCall(sampleCall({ item: 'a' }), 1, []);
      await store.endCall(sampleCall(), []);
      const since = (item: string | null, seen: number) => ({ calls: { item, void: [], begun: seen } });
      expect(await store.save(afterDraft(run), 1, [], since(null, begun))).toBe(false);
      expect(await store.save(afterDraft(run), 1, [], since('a', 0))).toBe(false);
      expect(await store.save(afterDraft(run), 1, [], since('b', ofItem))).toBe(true);
      const now = (await store.calls('r1', null)).begun;
      expect(await store.save(afterDraft(run), 2, [], since(null, now))).toBe(true);
    },
  },
  {
    name: "holds the end of an item up by that item's own calls only",
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      await store.beginCall(sampleCall({ id: 'c1', item: 'a' }), 1, []);
      await store.beginCall(sampleCall({ id: 'c2' }), 1, []);
      const of = (item: string | null) => ({ calls: { item, void: [] } });
      expect(await store.save(afterDraft(run), 1, [], of('a'))).toBe(false);
      expect(await store.save(afterDraft(run), 1, [], of('b'))).toBe(true);
      expect(await store.save(afterDraft(run), 2, [], of(null))).toBe(false);
      expect(await store.save(afterDraft(run), 2, [])).toBe(true);
      expect(await idsOf(store)).toEqual(['c1', 'c2']);
    },
  },
  {
    name: 'drops the calls that are void with the run that is written past them, and only then',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      for (const id of ['c1', 'c2']) await store.beginCall(sampleCall({ id }), 1, []);
      const past = (...ids: string[]) => ({ calls: { item: null, void: ids } });
      expect(await store.save(afterDraft(run), 1, [], past('c1'))).toBe(false);
      expect(await store.save(afterDraft(run), 7, [], past('c1', 'c2'))).toBe(false);
      expect(await idsOf(store)).toEqual(['c1', 'c2']);
      expect(await store.save(afterDraft(run), 1, [], past('c1', 'c2', 'c3'))).toBe(true);
      expect(await idsOf(store)).toEqual([]);
    },
  },
  {
    name: 'tells anyone who looks that a call is to be ended',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      for (const id of ['c1', 'c2']) await store.beginCall(sampleCall({ id }), 1, []);
      let heard = 0;
      const stop = store.onCommit(() => {
        heard += 1;
      });
      await store.askToEnd('r1', ['c2', 'c3']);
      stop();
      expect(heard > 0).toBe(true);
      expect((await store.calls('r1', null)).under.map(({ id, ending }) => [id, ending])).toEqual([
        ['c1', false],
        ['c2', true],
      ]);
    },
  },
];

function sampleCall(change: Partial<CallRecord> = {}): CallRecord {
  return {
    id: 'c1',
    run: 'r1',
    item: null,
    tool: 'bash',
    process: '1 2 3',
    deadline: SAMPLE_TIME,
    ending: false,
    ...change,
  };
}

const NONE = { under: [], begun: 0 };

async function idsOf(store: Store): Promise<readonly string[]> {
  return (await store.calls('r1', null)).under.map(({ id }) => id);
}

async function eventsOf(store: Store): Promise<readonly string[]> {
  return (await store.history('r1', { after: 0, limit: 10 })).map(({ event }) => event);
}
