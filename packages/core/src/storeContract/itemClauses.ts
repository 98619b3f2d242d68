import type { Item, Run } from '../engine/run.ts';
import type { Json } from '../json.ts';
import { type Clause, create } from './clause.ts';
import { sampleDraft } from './samples.ts';

/** What every store must do with the items of a run. */
export const ITEM_CLAUSES: readonly Clause[] = [
  {
    name: 'gives back many items as each write left them, few of them, and none',
    async body(store, expect, { sampleRun }) {
      const keys = [...Array.from({ length: 40 }, (_, index) => `area ${index} ünï`), '7', '__proto__'];
      const many = itemsOf(keys);
      let run = withItems(sampleRun('r1'), many);
      expect(await create(store, run)).toBe(true);
      let version = 1;
      const save = async (next: Run) => {
        run = { ...next, epoch: run.epoch + 1 } as Run;
        expect(await store.save(run, version, [sampleDraft('item_completed')])).toBe(true);
        version += 1;
        expect(await store.load('r1')).toEqual({ run, version });
      };
      for (const key of ['area 3 ünï', '7', '__proto__', 'area 3 ünï'])
        await save(withItems(run, { ...run.work.items, [key]: done(`${key} ${version}`) }));
      // Large ones, more than a store knows the places of.
      for (const key of keys.slice(10, 30))
        await save(withItems(run, { ...run.work.items, [key]: done(key.repeat(200)) }));
      const all = Object.entries(run.work.items ?? {});
      await save(
        withItems(run, Object.fromEntries(all.map(([key, item]) => [key, { ...item, attempts: 1 }]))),
      );
      await save(withItems(run, JSON.parse(JSON.stringify(run.work.items))));
      await save(withItems(run, Object.fromEntries(all.toReversed())));
      await save(withItems(run, Object.fromEntries(all.slice(0, 3))));
      await save(withItems(run, many));
      await save(withItems(run, null));
      await save(withItems(run, itemsOf(keys.slice(0, 20))));
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'gives back items that change without end, with what is decided and completed meanwhile',
    async body(store, expect, { sampleRun }) {
      const keys = Array.from({ length: 20 }, (_, index) => `area ${index}`);
      let run = withItems(sampleRun('r1'), itemsOf(keys));
      await create(store, run);
      const completion = { phase: 'PLAN', evidence: {}, at: run.startedAt };
      for (let version = 1; version <= 120; version += 1) {
        const key = keys[version % keys.length] as string;
        const items = { ...run.work.items, [key]: { ...PENDING, error: `${version} `.repeat(2_000) } };
        const completions = version % 50 === 0 ? [...run.completions, completion] : run.completions;
        run = { ...withItems(run, items), completions, epoch: run.epoch + 1 } as unknown as Run;
        expect(await store.save(run, version, [sampleDraft('item_completed')])).toBe(true);
        if (version % 10 === 0) expect(await store.load('r1')).toEqual({ run, version: version + 1 });
      }
      expect((await store.verify()).findings).toEqual([]);
    },
  },
];

function withItems(run: Run, items: Run['work']['items']): Run {
  return { ...run, work: { ...run.work, items } };
}

function itemsOf(keys: readonly string[]): NonNullable<Run['work']['items']> {
  return Object.fromEntries(keys.map((key) => [key, { ...PENDING, value: { name: key } as Json }]));
}

function done(text: string): Item {
  return { ...PENDING, status: 'completed', evidence: { text } };
}

const PENDING: Item = { status: 'pending', value: null, evidence: null, attempts: 0, error: null };
