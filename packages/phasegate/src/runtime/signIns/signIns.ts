import { randomBytes } from 'node:crypto';
import { unsealHumanKey } from '../humanKeys.ts';
import type { KeptStore, SignIns } from '../ports.ts';
import { memoryRows } from './memoryRows.ts';
import { sharedRows } from './sharedRows.ts';

/** What sign-ins are built from. */
export interface SignInParts {
  readonly store: KeptStore;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly now: () => number;
  /** A key of 32 bytes that every node of the store has; absent where this process is the only one that signs in. */
  readonly nodesKey?: Uint8Array | undefined;
}

/** The sign-ins of a project. */
export function createSignIns({ store, now, nodesKey }: SignInParts): SignIns {
  return {
    rows: (own) => (nodesKey === undefined ? memoryRows(own) : sharedRows(store, now)),
    challengeKey: () => nodesKey ?? randomBytes(32),
    unseal(name, sealed, by) {
      const signer = unsealHumanKey(sealed, by);
      return signer === null ? null : { principal: { kind: 'human', name }, ...signer };
    },
  };
}
