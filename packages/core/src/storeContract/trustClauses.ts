import type { TrustRecord } from '../ports/trust.ts';
import { type Clause, refuses } from './clause.ts';
import { SAMPLE_TIME, sampleDraft } from './samples.ts';

/** What every store must do with what humans accepted. */
export const TRUST_CLAUSES: readonly Clause[] = [
  {
    name: 'keeps what was accepted, by hash and by workflow, the newest first',
    async body(store, expect) {
      expect(await store.trusted('h1')).toBe(undefined);
      expect(await store.trustedBefore('release')).toBe(undefined);
      const [first, second] = [sampleTrust('h1'), sampleTrust('h2')];
      await store.putTrust(first, [sampleDraft('workflow_trusted')]);
      await store.putTrust(second, [sampleDraft('workflow_trusted')]);
      expect(await store.trusted('h1')).toEqual(first);
      expect(await store.trustedBefore('release')).toEqual(second);
      await store.putTrust(first, [sampleDraft('workflow_trusted')]);
      expect(await store.trustedBefore('release')).toEqual(first);
      expect(await store.trustedBefore('other')).toBe(undefined);
      expect(await store.acceptances()).toEqual([first, second, first]);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'refuses an acceptance with half of a character, and goes on with the others',
    async body(store, expect) {
      await store.putTrust(sampleTrust('h1'), [sampleDraft('workflow_trusted')]);
      const half = sampleTrust('h2', 'nice\ud800');
      await refuses(expect, () => store.putTrust(half, [sampleDraft('workflow_trusted')]));
      await store.putTrust(sampleTrust('h3'), [sampleDraft('workflow_trusted')]);
      expect((await store.acceptances()).map(({ hash }) => hash)).toEqual(['h3', 'h1']);
      expect((await store.verify()).ok).toBe(true);
    },
  },
  {
    name: 'keeps what was accepted in its order among all that happens to the project, also for two who accept at once',
    async body(store, expect) {
      const hashes: string[] = [];
      for (let round = 0; round < 4; round += 1) {
        const notes = Array.from({ length: 100 }, (_, note) => sampleDraft('start_refused', { note }));
        await store.note(null, notes);
        const [one, other] = [`h${round}`, `g${round % 2}`];
        await Promise.all([
          store.putTrust(sampleTrust(one), [sampleDraft('workflow_trusted')]),
          store.putTrust(sampleTrust(other, 'guarded:a b'), [sampleDraft('workflow_trusted')]),
        ]);
        hashes.unshift(other, one);
        expect((await store.acceptances()).map(({ hash }) => hash)).toEqual(hashes);
        expect((await store.trustedBefore('guarded:a b'))?.hash).toBe(other);
      }
      expect((await store.verify()).ok).toBe(true);
    },
  },
];

function sampleTrust(hash: string, workflow = 'release'): TrustRecord {
  return {
    hash,
    workflow,
    files: { 'agent_workflow.yaml': 'a1' },
    by: 'ada',
    at: SAMPLE_TIME,
    signature: 's',
  };
}
