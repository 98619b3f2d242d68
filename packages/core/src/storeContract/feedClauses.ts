import { type Clause, create } from './clause.ts';
import { afterDraft, sampleDraft } from './samples.ts';

/** What every store must do with the feed and those who listen. */
export const FEED_CLAUSES: readonly Clause[] = [
  {
    name: 'gives the records of all chains as one, in the order they were written',
    async body(store, expect, { sampleRun }) {
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
    async body(store, expect, { sampleRun }) {
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
    name: 'gives the records of certain events since a time, of all chains, in pages',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      await create(store, sampleRun('r2'));
      const at = (minute: number) => `2026-02-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
      const judged = (n: number) => ({ ...sampleDraft('tool_judged', { n }), time: at(n) });
      for (let n = 0; n < 30; n += 1) {
        const other = { ...sampleDraft('command_refused'), time: at(n) };
        await store.note(n % 2 === 0 ? 'r1' : 'r2', [judged(n), other]);
      }
      const since = async (minute: number, limit: number) => {
        const found: unknown[] = [];
        for (let after: number | undefined; ; ) {
          const query = { events: ['tool_judged', 'tool_executed'] as const, since: at(minute), limit };
          const page = await store.feedSince({ ...query, ...(after === undefined ? {} : { after }) });
          found.push(...page.map(({ run, data }) => [run, (data as { readonly n: number }).n]));
          after = page.at(-1)?.id;
          if (page.length < limit) return found;
        }
      };
      const all = Array.from({ length: 30 }, (_, n) => [n % 2 === 0 ? 'r1' : 'r2', n]);
      for (const limit of [1, 4, 100]) expect(await since(17, limit)).toEqual(all.slice(17));
      expect(await since(0, 100)).toEqual(all);
      expect(await since(29, 1)).toEqual(all.slice(29));
      expect(await since(30, 100)).toEqual([]);
      const [first] = await store.feedSince({ events: ['tool_judged'], since: at(3), limit: 1 });
      expect((await store.feed((first?.id ?? 0) - 1, 1))[0]).toEqual(first);
    },
  },
  {
    name: 'reads records without their large values, and no more than so many characters at once',
    async body(store, expect, { sampleRun }) {
      const run = sampleRun('r1');
      await create(store, run);
      const work = 'x'.repeat(2_000);
      const of = (n: number) => sampleDraft('phase_completed', { n, by: 'ada', evidence: { work } });
      const next = (version: number) => afterDraft({ ...run, epoch: version });
      await store.save(next(1), 1, [of(1), of(2), of(3)]);
      const most = 2 * JSON.stringify(of(1).data).length;
      const end = (await store.feedEnd()) - 3;
      const whole = await store.feed(end, 10);
      const without = await store.feed(end, 10, { values: 'left_out' });

      expect(whole.map(({ data }) => data)).toEqual([1, 2, 3].map((n) => of(n).data));
      expect(JSON.stringify(without).includes('xxxx')).toBe(false);
      expect(without.map(({ data: _, ...record }) => record)).toEqual(
        whole.map(({ data: _, ...record }) => record),
      );
      for (const [index, { data }] of without.entries()) {
        expect(data).toMatchObject({ n: index + 1, by: 'ada' });
        expect(JSON.stringify(data).includes('"left_out":{"sha256":"')).toBe(true);
      }
      expect(await store.history('r1', { after: 1, limit: 10, values: 'left_out' })).toEqual(
        without.map(({ id: _, ...record }) => record),
      );
      expect(await store.feed(end, 10, { most })).toEqual(whole.slice(0, 2));
      expect(await store.feed(end, 10, { most: 1 })).toEqual(whole.slice(0, 1));
      expect(await store.feed(end, 10, { most, values: 'left_out' })).toEqual(without);
      expect(await store.history('r1', { after: 2, limit: 10, most })).toEqual(
        whole.slice(1).map(({ id: _, ...record }) => record),
      );
      expect((await store.history('r1', { after: 1, limit: 10, most })).length).toBe(2);
    },
  },
  {
    name: 'keeps what was not written out of the feed',
    async body(store, expect, { sampleRun }) {
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
    async body(store, expect, { sampleRun }) {
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

function ascending(ids: readonly number[]): boolean {
  return ids.every((id, index) => id > (ids[index - 1] ?? 0));
}
