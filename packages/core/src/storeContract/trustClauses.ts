import type { TrustRecord } from '../ports/trust.ts';
import type { Clause } from './clause.ts';
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
];

function sampleTrust(hash: string): TrustRecord {
  return {
    hash,
    workflow: 'release',
    files: { 'agent_workflow.yaml': 'a1' },
    by: 'ada',
    at: SAMPLE_TIME,
    signature: 's',
  };
}
