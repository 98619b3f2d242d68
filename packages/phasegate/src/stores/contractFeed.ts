import type { Run } from '@phasegate/core';
import { type Clause, create } from './contractClause.ts';
import { afterDraft, sampleDraft, sampleRun, sampleWorkflow } from './sampleRun.ts';

/** What every store must do with the queue, the feed and those who listen. */
export const FEED_CLAUSES: readonly Clause[] = [
  {
    name: 'gives the queue by priority, then by age, then by who came first',
    async body(store, expect) {
      const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
      await create(store, queued('late', 0, late));
      await create(store, queued('early', 0, early));
      await create(store, queued('urgent', 5, late));
      await create(store, queued('twin', 0, early));
      await create(store, queued('whenever', -1, early));
      await create(store, sampleRun('active'));
      const names = async () => (await store.queue()).map(({ run }) => run);
      expect(await names()).toEqual(['urgent', 'early', 'twin', 'late', 'whenever']);

      const claimed = { ...queued('urgent', 5, late), status: 'active', holder: 'ada', epoch: 2 } as Run;
      expect(await store.save(claimed, 1, [])).toBe(true);
      expect(await names()).toEqual(['early', 'twin', 'late', 'whenever']);
      const back = { ...claimed, status: 'queued', holder: null, epoch: 3 } as Run;
      expect(await store.save(back, 2, [])).toBe(true);
      expect(await names()).toEqual(['urgent', 'early', 'twin', 'late', 'whenever']);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'says of a run its priority and what an agent must be able to do, each once',
    async body(store, expect) {
      const workflow = { ...sampleWorkflow(), capabilities: ['node', 'docker'] };
      const queue = { priority: 3, capabilities: ['gpu', 'node'] };
      await create(store, sampleRun('r1', { status: 'queued', holder: null, workflow, queue }));
      await create(store, sampleRun('r2', { status: 'queued', holder: null }));
      const expected = [
        { run: 'r1', priority: 3, capabilities: ['docker', 'gpu', 'node'] },
        { run: 'r2', priority: 0, capabilities: [] },
      ];
      expect(await store.queue()).toMatchObject(expected);
      expect(await store.list({})).toMatchObject([...expected].reverse());
    },
  },
  {
    name: 'gives the records of all chains as one, in the order they were written',
    async body(store, expect) {
      expect(await store.feedEnd()).toBe(0);
      expect(await store.feed(0, 10)).toEqual([]);
      const run = sampleRun('r1');
      await create(store, run);
      await create(store, sampleRun('r2'));
      await store.note('r2', [sampleDraft('tool_judged', { n: 1 })]);
      await store.note(null, [sampleDraft('start_refused')]);
      await store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]);
      const feed = await store.feed(0, 100);
      expect(feed.map(({ run: of, event }) => [of, event])).toEqual([
        ['r1', 'run_started'],
        [null, 'run_started'],
        ['r2', 'run_started'],
        [null, 'run_started'],
        ['r2', 'tool_judged'],
        [null, 'start_refused'],
        ['r1', 'phase_completed'],
      ]);
      expect(ascending(feed.map(({ id }) => id))).toBe(true);
      expect(await store.feedEnd()).toBe(feed.at(-1)?.id);
      const [record] = await store.history('r2', { after: 1, limit: 1 });
      expect(feed[4]).toEqual({ id: feed[4]?.id, ...record });
    },
  },
  {
    name: 'goes on with the feed where a reader left it, without a gap or a repetition',
    async body(store, expect) {
      await create(store, sampleRun('r1'));
      await store.note(
        'r1',
        Array.from({ length: 20 }, (_, n) => sampleDraft('tool_judged', { n })),
      );
      const whole = await store.feed(0, 100);
      const read = [];
      for (let after = 0; ; ) {
        const page = await store.feed(after, 5);
        read.push(...page);
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.id;
      }
      expect(whole.length).toBe(22);
      expect(read).toEqual(whole);
      const end = await store.feedEnd();
      await store.note('r1', [sampleDraft('tool_judged', { n: 'new' })]);
      expect((await store.feed(end, 10)).map(({ data }) => data)).toEqual([{ n: 'new' }]);
    },
  },
  {
    name: 'keeps what was not written out of the feed',
    async body(store, expect) {
      const run = sampleRun('r1');
      await create(store, run);
      const end = await store.feedEnd();
      await store.note('r1', [sampleDraft('tool_judged')], 9);
      await store.save(afterDraft(run), 7, [sampleDraft('phase_completed')]);
      expect(await store.feedEnd()).toBe(end);
    },
  },
  {
    name: 'tells listeners of a commit by the time it answers, until they stop or throw',
    async body(store, expect) {
      let [heard, seen, failed] = [0, 0, 0];
      const stop = store.onCommit(() => {
        heard += 1;
      });
      store.onCommit(() => {
        failed += 1;
        throw new TypeError('a fault of the listener');
      });
      store.onCommit(() => {
        seen += 1;
      });
      expect(await create(store, sampleRun('r1'))).toBe(true);
      expect([heard > 0, seen > 0, failed]).toEqual([true, true, 1]);
      stop();
      const before = { heard, seen };
      expect(await store.note('r1', [sampleDraft('tool_judged')])).toBe(true);
      expect([heard, seen > before.seen, failed]).toEqual([before.heard, true, 1]);
      stop();
    },
  },
];

function queued(id: string, priority: number, startedAt: string): Run {
  const queue = priority === 0 ? {} : { queue: { priority, capabilities: [] } };
  return sampleRun(id, { status: 'queued', holder: null, startedAt, ...queue });
}

function ascending(ids: readonly number[]): boolean {
  return ids.every((id, index) => id > (ids[index - 1] ?? 0));
}
