import { canonicalJson, PhasegateError } from '@phasegate/core';
import { oneLine } from '@phasegate/core/model';
import { guardedChanges, measureOf, withAccepted } from '../guard/guardedChanges.ts';
import type {
  AcceptedFiles,
  FileTexts,
  GuardedCard,
  GuardedChange,
  GuardedEntry,
  GuardedFiles,
  Store,
  TrustRecord,
  UnlockedHuman,
} from '../ports.ts';
import { guardedSubject, lastWordOn } from './acceptance.ts';
import { textOf } from './differences.ts';

/** What acceptance of guarded files is built from. */
export interface GuardedTrustParts {
  readonly store: Store;
  /** Absent where there are no files to guard. */
  readonly files: GuardedFiles | undefined;
  /** Absent where no copies are kept. */
  readonly copies: AcceptedFiles | undefined;
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
  /** What the file of a card says, on both sides. */
  texts(card: Pick<GuardedCard, 'path' | 'hash'>): Promise<FileTexts>;
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

  /** INVARIANT: what is given is what was shown, or nothing is. */
  async function shown({ path, hash }: Pick<GuardedCard, 'path' | 'hash'>): Promise<GuardedChange> {
    const change = (await changes()).find((one) => one.path === path);
    if (change !== undefined && hashOf(change) === hash) return change;
    throw changedMeanwhile(path);
  }

  return {
    isAccepted,
    async texts(card) {
      const { path, before, after } = await shown(card);
      const hidden = whyHidden(before, after);
      if (after === null || hidden !== null) return { before: null, after: null, missing: hidden };
      const found = await parts.copies?.now(path);
      if (found?.kind !== 'file' || found.sha256 !== after.digest) throw changedMeanwhile(path);
      const kept = before?.kind === 'file' ? await parts.copies?.kept(before.digest) : null;
      const missing = before === null || kept != null ? null : NO_COPY;
      return { before: textOf(kept ?? null), after: textOf(found.content), missing };
    },
    cards: async () => (await changes()).map((change) => ({ ...wordsOf(change), hash: hashOf(change) })),
    async accept(path, hash, human) {
      const change = await shown({ path, hash });
      if (files === undefined) throw changedMeanwhile(path);
      const digests = change.after === null ? {} : { [path]: change.after.digest };
      const trust = await parts.keep(human, { hash, workflow: guardedSubject(path), files: digests });
      const kept = (await files.measure()) ?? measureOf({ tree: new Map(), beyond: [] });
      await files.keepMeasure(withAccepted(kept, [change]));
      // Accepted is accepted: without a copy only the next difference cannot be shown.
      if (change.after?.kind === 'file') await parts.copies?.keep(digests).catch(() => undefined);
      return trust;
    },
  };
}

const NO_COPY = 'no copy of what it was is kept, so all of it is shown';

/** Why the content of what stands there is not shown; null where it is. */
function whyHidden(before: GuardedEntry | null, after: GuardedEntry | null): string | null {
  if (after === null) return null;
  if (after.kind === 'link') return `it is a link to \`${oneLine(after.digest)}\``;
  if (after.kind === 'other') return 'it is not a file';
  if (before?.kind === 'file' && before.digest === after.digest) return 'only who may run it changed';
  // Such a digest is no hash of a content.
  return after.digest.includes(':') ? 'it is not shown: it is too large, or may not be read' : null;
}

function changedMeanwhile(path: string): PhasegateError {
  return new PhasegateError('usage', `\`${oneLine(path)}\` changed since it was shown; look again`, {
    hint: 'phasegate trust --guarded',
  });
}

function wordsOf({ path, before, after }: GuardedChange): Omit<GuardedCard, 'hash'> {
  if (before === null) return { path, change: 'added' };
  return { path, change: after === null ? 'removed' : 'changed' };
}
