import { PhasegateError } from '@phasegate/core';
import type { Attempt } from '../runtime/ports.ts';
import { type AttemptRecord, attemptFiles, dropCopy, workingCopy } from './attemptRecord.ts';
import { removeDatabase } from './copies.ts';
import { installReady, isAsSealed } from './installReady.ts';
import { type Original, watchOriginal } from './original.ts';
import { databaseFault } from './refused.ts';
import { changedMeanwhile } from './startAttempt.ts';
import type { Turn } from './takeTurn.ts';
import { type Patience, whenFree } from './whenFree.ts';

/** What a copy that waits is made of. */
export interface WaitingParts {
  /** Where attempts at the database are. */
  readonly folder: string;
  readonly record: AttemptRecord;
  /** The turn at the database is taken only to install: a no must not wait for anybody. */
  readonly takeTurn: () => Promise<Turn>;
  readonly patience: Patience;
  readonly now: () => number;
}

/** A sealed copy that waits for a human, as the attempt it is: nothing is left to be done on it. */
export function waitingCopy({ folder, record, takeTurn, patience, now }: WaitingParts): Attempt {
  const { ready } = attemptFiles(folder, record.id);
  let held: { readonly turn: Turn; readonly original: Original; readonly copy: string } | null = null;

  function letGo(): void {
    held?.original.letGo();
    held?.original.close();
    if (held !== null) removeDatabase(held.copy);
    held?.turn.leave();
    held = null;
  }

  return {
    file: ready,
    seal: async () => ({ file: ready, hash: record.sealed ?? null }),
    async prepare() {
      letGo();
      const turn = await takeTurn();
      const copy = workingCopy(folder);
      try {
        const original = await watchOriginal(record.file, copy, patience);
        held = { turn, original, copy };
        await whenFree(record.file, patience, () => original.hold());
        // The record is there already: it was written before the run was saved as waiting.
        const same = original.fingerprint === record.before && !original.changed();
        if (!same || !(await isAsSealed(folder, record))) throw changedMeanwhile(record.file);
      } catch (error) {
        if (held === null) turn.leave();
        letGo();
        throw databaseFault(error, record.file);
      }
    },
    async install() {
      if (held === null) throw new PhasegateError('internal', 'a copy is installed after it was prepared');
      const { original } = held;
      try {
        original.letGo();
        await installReady(folder, record, { patience, now, changed: () => original.changed() });
      } finally {
        letGo();
      }
    },
    keep: async () => letGo(),
    async discard() {
      letGo();
      dropCopy(folder, record.id);
    },
  };
}
