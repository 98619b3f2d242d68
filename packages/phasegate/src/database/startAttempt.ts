import { lstatSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import type { Attempt, AttemptMark } from '../runtime/ports.ts';
import { type AttemptRecord, attemptFiles, removeRecord, writeRecord } from './attemptRecord.ts';
import { beginReading, connect, copyOut, removeDatabase, requireSound, schemaOf } from './copies.ts';
import { fingerprintFile } from './fingerprint.ts';
import { installReady } from './installReady.ts';
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
  const original = await watchOriginal(file, paths.copy, patience);
  let state: 'open' | 'unchanged' | 'ended' | AttemptRecord = 'open';

  function end(): void {
    state = 'ended';
    original.letGo();
    original.close();
    removeDatabase(paths.copy);
    turn.leave();
  }

  function takeBack(): void {
    if (state !== 'open') removeRecord(paths.record);
    state = 'open';
    removeDatabase(paths.ready);
    original.letGo();
  }

  return {
    file: paths.copy,
    async prepare(mark: AttemptMark) {
      if (state === 'ended') throw new PhasegateError('internal', 'the attempt has ended');
      try {
        // Prepared before, for a run that someone else changed meanwhile: what holds now is looked at anew.
        takeBack();
        await seal(paths, original, patience);
        const after = await fingerprintFile(paths.ready);
        if (after === original.fingerprint) {
          // A step that wrote nothing is in nobody's way.
          removeDatabase(paths.ready);
          state = 'unchanged';
          return;
        }
        await whenFree(file, patience, () => original.hold());
        if (original.changed()) {
          throw new PhasegateError('database_changed', `someone else wrote to \`${file}\` during the step`, {
            hint: 'their database stays, and the step was not accepted; try it again',
          });
        }
        const record = { id, file, mark, before: original.fingerprint, after };
        writeRecord(paths.record, record);
        state = record;
      } catch (error) {
        takeBack();
        throw patience.signal?.aborted ? error : databaseFault(error, file);
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
        if (record === 'unchanged') return;
        const unhurried: Patience = { busyMs: patience.busyMs };
        await installReady(folder, record, { patience: unhurried, now, changed: () => original.changed() });
      } finally {
        end();
      }
    },
    async discard() {
      if (state === 'ended') return;
      takeBack();
      end();
    },
  };
}

/** Takes the copy out of the hands of whoever still has it open, and looks whether it can be installed at all. */
async function seal(
  { copy, ready }: { readonly copy: string; readonly ready: string },
  original: Original,
  patience: Patience,
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
