import { canonicalJson, PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { guardedChanges, measureOf, withAccepted } from '../guard/guardedChanges.ts';
import type {
  GuardedCard,
  GuardedChange,
  GuardedFiles,
  Store,
  TrustRecord,
  UnlockedHuman,
} from '../ports.ts';
import { guardedSubject, lastWordOn } from './acceptance.ts';

/** What acceptance of guarded files is built from. */
export interface GuardedTrustParts {
  readonly store: Store;
  /** Absent where there are no files to guard. */
  readonly files: GuardedFiles | undefined;
  /** Signs and keeps an acceptance on the project's chain. */
  keep(human: UnlockedHuman, what: Pick<TrustRecord, 'hash' | 'workflow' | 'files'>): Promise<TrustRecord>;
  isSigned(trust: TrustRecord): Promise<boolean>;
  /** SHA-256, hex. */
  hash(text: string): string;
}

/** Which changes of guarded files a human has accepted. */
export interface GuardedTrust {
  isAccepted(change: GuardedChange): Promise<boolean>;
  /** What changed since a process last looked, and has to be accepted before a program is run. */
  cards(): Promise<readonly GuardedCard[]>;
  accept(path: string, hash: string, human: UnlockedHuman): Promise<TrustRecord>;
}

/** Builds it. */
export function createGuardedTrust(parts: GuardedTrustParts): GuardedTrust {
  const { store, files } = parts;

  /** No closure of a workflow has such a text, so neither stands for the other. */
  function hashOf({ path, after }: Pick<GuardedChange, 'path' | 'after'>): string {
    const found =
      after === null
        ? null
        : { kind: after.kind, digest: after.digest, runs: ((after.mode ?? 0) & 0o111) > 0 };
    return parts.hash(canonicalJson({ guarded: path, found }));
  }

  /**
   * Only the newest acceptance that speaks of a path counts, as part of a workflow or by itself: what was given up must
   * not come back. INVARIANT: nothing in the workspace is asked, since anyone who changed a file may have changed that too.
   */
  async function isAccepted(change: GuardedChange): Promise<boolean> {
    const { path, after } = change;
    const trust = await lastWordOn(path, store);
    if (trust === undefined) return false;
    const isSame =
      trust.workflow === guardedSubject(path)
        ? trust.hash === hashOf(change)
        : after?.kind === 'file' && trust.files[path] === after.digest;
    return isSame && parts.isSigned(trust);
  }

  async function changes(): Promise<readonly GuardedChange[]> {
    const kept = (await files?.measure()) ?? null;
    if (files === undefined || kept === null || (await store.humans()).length === 0) return [];
    const found = guardedChanges(kept, await files.read(Object.keys(kept.files)));
    const accepted = await Promise.all(found.map(isAccepted));
    return found.filter((_, place) => !accepted[place]);
  }

  return {
    isAccepted,
    cards: async () => (await changes()).map((change) => ({ ...wordsOf(change), hash: hashOf(change) })),
    async accept(path, hash, human) {
      const change = (await changes()).find((one) => one.path === path);
      if (files === undefined || change === undefined || hashOf(change) !== hash) {
        throw new PhasegateError('usage', `\`${oneLine(path)}\` changed since it was shown; look again`, {
          hint: 'phasegate trust --guarded',
        });
      }
      const digests = change.after === null ? {} : { [path]: change.after.digest };
      const trust = await parts.keep(human, { hash, workflow: guardedSubject(path), files: digests });
      const kept = (await files.measure()) ?? measureOf({ tree: new Map(), beyond: [] });
      await files.keepMeasure(withAccepted(kept, [change]));
      return trust;
    },
  };
}

function wordsOf({ path, before, after }: GuardedChange): Omit<GuardedCard, 'hash'> {
  if (before === null) return { path, change: 'added' };
  return { path, change: after === null ? 'removed' : 'changed' };
}
