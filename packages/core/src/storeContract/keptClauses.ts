import type { KeptRecord } from '../ports/kept.ts';
import { type Clause, create, refuses } from './clause.ts';
import { sampleDraft } from './samples.ts';

/** What every store must do with the small records of the runtime. */
export const KEPT_CLAUSES: readonly Clause[] = [
  {
    name: 'keeps small records by kind and key, and records each on a chain',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      expect(await store.kept('session', 'claude/a')).toBe(undefined);
      expect(await store.keep(sampleKept('claude/a'), ON_PROJECT)).toBe(true);
      expect(await store.keep(sampleKept('claude/b'), { run: 'r1', audit: [NOTE] })).toBe(true);
      expect(await store.keep({ ...sampleKept('claude/a'), kind: 'call' }, ON_PROJECT)).toBe(true);
      expect(await store.kept('session', 'claude/b')).toEqual({ run: 'r1', of: 'claude/b' });
      expect(await store.keptAll('session')).toEqual([sampleKept('claude/a'), sampleKept('claude/b')]);
      expect(await store.keptAll('session', 'claude/b')).toEqual([sampleKept('claude/b')]);
      expect((await store.history('r1', { after: 0, limit: 10 })).at(-1)?.event).toBe('tool_judged');
      expect(await store.dropKept('session', 'claude/', true)).toBe(0);
      expect(await store.keep(sampleKept('claude/ab'), ON_PROJECT)).toBe(true);
      expect(await store.dropKept('session', 'claude/a', true)).toBe(1);
      expect(await store.dropKept('session', 'claude/')).toBe(2);
      expect(await store.keptAll('session')).toEqual([]);
      expect((await store.keptAll('call')).length).toBe(1);
      expect((await store.verify()).findings).toEqual([]);
    },
  },
  {
    name: 'refuses a key with half of a character, which it could not keep as it is',
    async body(store, expect) {
      const half = { ...sampleKept('claude/x\ud800'), kind: 'call' };
      await refuses(expect, () => store.keep(half, ON_PROJECT));
      expect(await store.keptAll('call')).toEqual([]);
      expect(await store.keep({ ...sampleKept('claude/x\u{1F600}'), kind: 'call' }, ON_PROJECT)).toBe(true);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'gives the last of many small records, piece by piece',
    async body(store, expect) {
      const keys = ['a/1', 'a/2', 'a/3', 'b/1'];
      for (const key of keys) expect(await store.keep(sampleKept(key), ON_PROJECT)).toBe(true);
      const part = async (prefix: string, limit: number, before?: string) =>
        (await store.keptAll('session', prefix, { limit, before })).map(({ key }) => key);
      expect(await part('', 10)).toEqual(keys);
      expect(await part('a/', 2)).toEqual(['a/2', 'a/3']);
      expect(await part('a/', 2, 'a/2')).toEqual(['a/1']);
      expect(await part('a/', 2, 'a/1')).toEqual([]);
      // A key of another beginning is no way out of what was asked for.
      expect(await part('a/', 9, 'b/2')).toEqual(['a/1', 'a/2', 'a/3']);
    },
  },
  {
    name: 'keeps a record only beside what it was made from',
    async body(store, expect, { sampleRun }) {
      await create(store, sampleRun('r1'));
      const { epoch } = sampleRun('r1');
      const record = sampleKept('claude/a');
      const audit = [NOTE];
      expect(await store.keep(record, { run: 'r1', audit, epoch: epoch + 1 })).toBe(false);
      expect(await store.keep(record, { run: 'gone', audit })).toBe(false);
      expect(await store.kept('session', 'claude/a')).toBe(undefined);
      const before = (await store.history('r1', { after: 0, limit: 10 })).length;
      expect(await store.keep(record, { run: 'r1', audit, epoch, was: null })).toBe(true);
      expect(await store.keep(record, { run: 'r1', audit, epoch, was: null })).toBe(false);
      const next = { ...record, data: { run: null } };
      expect(await store.keep(next, { run: null, audit: [], was: { run: 'other' } })).toBe(false);
      expect(await store.keep(next, { run: null, audit: [], was: record.data })).toBe(true);
      expect(await store.kept('session', 'claude/a')).toEqual({ run: null });
      expect((await store.history('r1', { after: 0, limit: 10 })).length).toBe(before + 1);
    },
  },
];

const NOTE = sampleDraft('tool_judged');
const ON_PROJECT = { run: null, audit: [] } as const;

function sampleKept(key: string): KeptRecord {
  return { kind: 'session', key, data: { run: 'r1', of: key } };
}
