import type { JsonObject } from '@phasegate/core';
import type { ClientProof, HookClient, ProofRecords, Proofs, ProvenWith, Store } from '../ports.ts';

/** What proofs are kept in. */
export interface ProofParts {
  readonly store: Pick<Store, 'keep' | 'kept' | 'keptAll'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * What decides whether a proof still holds for a session in a folder, as it is now; null where the client is not what
 * was proven. Without a folder, in the project's own.
 */
export type LookAgain = (
  client: HookClient,
  proven: ProvenWith,
  cwd?: string,
) => Promise<Pick<ProvenWith, 'identity' | 'settings' | 'kernel'> | null>;

/** The proofs that were made, sealed like everything that is kept. */
export function createProofRecords({ store, now }: ProofParts, look: LookAgain | undefined): ProofRecords {
  return {
    async keep(proof) {
      const { client, version, sha256, ring, walls } = proof;
      const failed = walls.filter(({ outcome }) => outcome !== 'held').map(({ name }) => name);
      const data = { client, version, sha256, ring, not_held: failed };
      const note = {
        time: new Date(now()).toISOString(),
        principal: 'engine:phasegate',
        event: 'client_proven',
        data,
      } as const;
      const record = { kind: KIND, key: client, data: proof as unknown as JsonObject };
      await store.keep(record, { run: null, audit: [note] });
    },
    async all() {
      const proofs = (await store.keptAll(KIND)).map(({ data }) => data as unknown as ClientProof);
      return Promise.all(proofs.map(async (proof) => ({ proof, stands: await stands(proof, look) })));
    },
  };
}

/** INVARIANT: a proof is worth nothing once the client, its settings or the kernel is another. */
export function createProofs({ store }: ProofParts, look: LookAgain): Proofs {
  return {
    async ringOf(client, { cwd }) {
      const proof = (await store.kept(KIND, client)) as unknown as ClientProof | undefined;
      if (proof === undefined) return 'served';
      return (await stands(proof, look, cwd)) ? proof.ring : 'served';
    },
  };
}

async function stands(proof: ClientProof, look: LookAgain | undefined, cwd = ''): Promise<boolean> {
  const now = (await look?.(proof.client, proof, cwd).catch(() => null)) ?? null;
  return (
    now !== null &&
    now.identity === proof.identity &&
    now.kernel === proof.kernel &&
    JSON.stringify(now.settings) === JSON.stringify(proof.settings)
  );
}

const KIND = 'proof';
