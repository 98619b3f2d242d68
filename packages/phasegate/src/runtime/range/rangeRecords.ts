import { PhasegateError } from '@phasegate/core';
import type { KnownContents, PinnedKeys, RangeRecords, Seal, Store } from '../ports.ts';
import { demandRole } from '../roles.ts';
import { knownContents } from './knownContents.ts';

/** What the records of a project are made with. */
export interface RangeRecordParts {
  readonly store: Pick<Store, 'humans' | 'note' | 'verify'>;
  readonly seal: Pick<Seal, 'sign'>;
  /** The public half of what `seal` signs with. */
  readonly publicKey?: string;
  /** ISO time. */
  readonly now: () => string;
}

/** What the audit of a project knows about contents, and its signatures. */
export function createRangeRecords({ store, seal, publicKey, now }: RangeRecordParts): RangeRecords {
  const keysOf = (humans: readonly { readonly name: string; readonly publicKey: string }[]): PinnedKeys => ({
    project: publicKey === undefined ? [] : [publicKey],
    humans: humans.map(({ name, publicKey: key }) => ({ name, key })),
  });
  return {
    async established() {
      let read: { readonly known: KnownContents; readonly keys: PinnedKeys } | undefined;
      // INVARIANT: in one step. What is read after a verification is not what was verified.
      const { ok, findings } = await store.verify({
        async reading(moment) {
          read = { known: await knownContents(moment), keys: keysOf(await moment.humans()) };
        },
      });
      if (ok && read !== undefined) return read;
      const why = findings[0]?.message ?? 'it could not be read';
      throw new PhasegateError('audit_broken', `the audit is broken, so it proves nothing: ${why}`, {
        hint: 'phasegate audit verify',
      });
    },
    keys: async () => keysOf(await store.humans()),
    sign: async (text) => seal.sign(text),
    async attest({ human, text, signature }, files) {
      await demandRole(store, { name: human }, { least: 'approver', what: 'answering for commits' });
      const data = { human, files, text, signature };
      const principal = `human:${human}`;
      await store.note(null, [{ time: now(), principal, event: 'range_attested', data }]);
    },
  };
}
