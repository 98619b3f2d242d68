import type { RangeRecords, Seal, Store } from '../ports.ts';
import { demandRole } from '../roles.ts';
import { knownContents } from './knownContents.ts';

/** What the records of a project are made with. */
export interface RangeRecordParts {
  readonly store: Pick<Store, 'feedSince' | 'humans' | 'note'>;
  readonly seal: Pick<Seal, 'sign'>;
  /** The public half of what `seal` signs with. */
  readonly publicKey?: string;
  /** ISO time. */
  readonly now: () => string;
}

/** What the audit of a project knows about contents, and its signatures. */
export function createRangeRecords({ store, seal, publicKey, now }: RangeRecordParts): RangeRecords {
  return {
    known: () => knownContents(store),
    async keys() {
      const humans = (await store.humans()).map(({ name, publicKey: key }) => ({ name, key }));
      return { project: publicKey === undefined ? [] : [publicKey], humans };
    },
    sign: async (text) => seal.sign(text),
    async attest({ human, text, signature }, files) {
      await demandRole(store, { name: human }, { least: 'approver', what: 'answering for commits' });
      const data = { human, files, text, signature };
      const principal = `human:${human}`;
      await store.note(null, [{ time: now(), principal, event: 'range_attested', data }]);
    },
  };
}
