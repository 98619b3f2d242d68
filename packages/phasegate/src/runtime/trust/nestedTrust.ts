import { canonicalJson } from '@phasegate/core';
import type { HumanStore, TrustRecord, TrustStore, UnlockedHuman } from '../ports.ts';

/** What acceptance of nested projects is built from. */
export interface NestedTrustParts {
  readonly store: HumanStore & TrustStore;
  /** Signs and keeps an acceptance on the project's chain. */
  keep(human: UnlockedHuman, what: Pick<TrustRecord, 'hash' | 'workflow' | 'files'>): Promise<TrustRecord>;
  accepted(trust: TrustRecord): Promise<boolean>;
  /** SHA-256, hex. */
  hash(text: string): string;
}

/**
 * Folders of the project that are projects of their own. A file makes a folder one, and an agent can write files: with a
 * human set up, such a folder is entered only where a human accepted it. Its config and workflows are its own to accept.
 */
export interface NestedTrust {
  /** By its path from the root. True where nobody need be asked. */
  mayEnter(folder: string): Promise<boolean>;
  accept(folder: string, human: UnlockedHuman): Promise<TrustRecord>;
}

/** Builds it. */
export function createNestedTrust({ store, keep, accepted, hash }: NestedTrustParts): NestedTrust {
  const hashOf = (folder: string) => hash(canonicalJson({ project: folder }));
  // No workflow can have such an id.
  const subjectOf = (folder: string) => `project:${folder}`;
  return {
    async mayEnter(folder) {
      if ((await store.humans()).length === 0) return true;
      const trust = await store.trusted(hashOf(folder));
      return trust !== undefined && trust.workflow === subjectOf(folder) && (await accepted(trust));
    },
    accept: (folder, human) => keep(human, { hash: hashOf(folder), workflow: subjectOf(folder), files: {} }),
  };
}
