import { chmodSync, lstatSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import type { Attempt, AttemptMark, SealedCopy } from '../runtime/ports.ts';
import { type AttemptRecord, attemptFiles, removeRecord, workingCopy, writeRecord } from './attemptRecord.ts';
import { beginReading, connect, copyOut, removeDatabase, requireSound, schemaOf } from './copies.ts';
import { fingerprintFile, hashFile } from './fingerprint.ts';
import { installReady, isAsSealed } from './installReady.ts';
import { type Original, watchOriginal } from './original.ts';
import { databaseFault, refused } from './refused.ts';
import type { Turn } from './takeTurn.ts';
import { type Patience, whenFree } from './whenFree.ts';

/** What an attempt is made of. */
export interface AttemptParts {
  readonly id: string;
  /** The database, absolute. */
  readonly file: string;
  /** Where attempts at it are. */
  readonly folder: string;
  readonly turn: Turn;
  readonly patience: Patience;
  readonly now: () => number;
}

/** Starts an attempt; it has the turn until it is installed or discarded. */
export async function startAttempt({
  id,
  file,
  folder,
  turn,
  patience,
  now,
}: AttemptParts): Promise<Attempt> {
  const paths = attemptFiles(folder, id);
  const copy = workingCopy(folder);
  const original = await watchOriginal(file, copy, patience);
  let state: 'open' | 'unchanged' | 'ended' | AttemptRecord = 'open';
  let sealed: Promise<Sealed> | undefined;

  function end(): void {
    state = 'ended';
    original.letGo();
    original.close();
    removeDatabase(copy);
    turn.leave();
  }

  function takeBack(): void {
    if (state !== 'open') removeRecord(paths.record);
    state = 'open';
    original.letGo();
  }

  function fault(error: unknown): unknown {
    return patience.signal?.aborted ? error : databaseFault(error, file);
  }

  async function sealNow(): Promise<Sealed> {
    try {
      await takeOut(copy, paths.ready, { original, patience });
      // INVARIANT: what is looked at from here on, shown and installed are these bytes.
      chmodSync(paths.ready, 0o400);
      const after = await fingerprintFile(paths.ready);
      // A step that wrote nothing is in nobody's way.
      const hash = after === original.fingerprint ? null : await hashFile(paths.ready);
      return { file: paths.ready, hash, after };
    } catch (error) {
      removeDatabase(paths.ready);
      throw fault(error);
    }
  }

  function seal(): Promise<Sealed> {
    if (state === 'ended') throw new PhasegateError('internal', 'the attempt has ended');
    sealed ??= sealNow();
    return sealed;
  }

  return {
    file: copy,
    seal,
    async prepare(mark: AttemptMark) {
      const { hash, after } = await seal();
      try {
        // Prepared before, for a run that someone else changed meanwhile.
        takeBack();
        if (hash === null) {
          state = 'unchanged';
          return;
        }
        const record = { id, file, mark, before: original.fingerprint, after, sealed: hash };
        if (!(await isAsSealed(folder, record))) {
          throw refused('the sealed copy of the database was changed by another process');
        }
        await whenFree(file, patience, () => original.hold());
        if (original.changed()) throw changedMeanwhile(file);
        writeRecord(paths.record, record);
        state = record;
      } catch (error) {
        takeBack();
        throw fault(error);
      }
    },
    async install() {
      if (state === 'ended') return;
      if (state === 'open')
        throw new PhasegateError('internal', 'an attempt is installed after it was prepared');
      const record = state;
      // From here on it is settled that it goes in: now, or when a crash or a lock is over.
      state = 'ended';
      try {
        original.letGo();
        if (record === 'unchanged') {
          removeDatabase(paths.ready);
          return;
        }
        const unhurried: Patience = { busyMs: patience.busyMs };
        await installReady(folder, record, { patience: unhurried, now, changed: () => original.changed() });
      } finally {
        end();
      }
    },
    async keep() {
      if (state === 'ended') return;
      if (state === 'open') throw new PhasegateError('internal', 'an attempt is kept after it was prepared');
      if (state === 'unchanged') removeDatabase(paths.ready);
      end();
    },
    async discard() {
      if (state === 'ended') return;
      takeBack();
      removeDatabase(paths.ready);
      end();
    },
  };
}

/** The fault of a database that is not what a step was done on. */
export function changedMeanwhile(file: string): PhasegateError {
  return new PhasegateError('database_changed', `someone else wrote to \`${file}\` during the step`, {
    hint: 'their database stays, and the step was not accepted; try it again',
  });
}

interface Sealed extends SealedCopy {
  /** Of what it holds. */
  readonly after: string;
}

/** Takes the copy out of the hands of the one who still has it open, and looks whether it can be installed at all. */
async function takeOut(
  copy: string,
  ready: string,
  { original, patience }: { readonly original: Original; readonly patience: Patience },
): Promise<void> {
  if (lstatSync(copy, { throwIfNoEntry: false })?.isFile() !== true) {
    throw refused('the step removed its copy of the database');
  }
  const database = connect(copy);
  try {
    await whenFree(copy, patience, () => beginReading(database));
    requireSound(database, 'what the step left of its copy of the database');
    if (schemaOf(database) !== original.schema) {
      throw refused(
        'the step changed the schema of the database, which only migrations may',
        'add a migration',
      );
    }
    await copyOut(database, ready);
  } finally {
    database.close();
  }
}
