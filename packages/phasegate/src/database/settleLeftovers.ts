import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError, type Run } from '@phasegate/core';
import { type AttemptRecord, attemptFiles, readRecord, removeRecord, wasAccepted } from './attemptRecord.ts';
import { removeDatabase } from './copies.ts';
import { installReady } from './installReady.ts';
import { watchOriginal } from './original.ts';
import { databaseFault } from './refused.ts';
import { TURN_FILE } from './takeTurn.ts';
import type { Patience } from './whenFree.ts';

/** How to find out what became of a run. */
export type LoadRun = (runId: string) => Promise<Run | undefined>;

/**
 * Finishes or throws away what a crash left in a folder of attempts. Whoever calls has the turn, so nobody is at work
 * on any of it.
 */
export async function settleLeftovers(
  folder: string,
  how: { readonly load: LoadRun | null; readonly patience: Patience; readonly now: () => number },
): Promise<void> {
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const path = join(folder, name);
    const record = readRecord(path);
    if (how.load === null) {
      throw new PhasegateError(
        'database_busy',
        `an accepted step of the run \`${record.mark.run}\` has still to be put into \`${record.file}\``,
        { hint: 'open the project again' },
      );
    }
    if (wasAccepted(await how.load(record.mark.run), record.mark)) await finish(folder, record, how);
    else removeRecord(path);
  }
  for (const name of readdirSync(folder)) if (!name.startsWith(TURN_FILE)) removeDatabase(join(folder, name));
}

/** Doing it twice is harmless: a database that holds the step's result already is left alone. */
async function finish(
  folder: string,
  record: AttemptRecord,
  { patience, now }: { readonly patience: Patience; readonly now: () => number },
): Promise<void> {
  const { copy, ready, record: path } = attemptFiles(folder, record.id);
  removeDatabase(copy);
  const original = await found(record, () => watchOriginal(record.file, copy, patience));
  try {
    if (original.fingerprint === record.after) {
      removeRecord(path);
      removeDatabase(ready);
      return;
    }
    const changed = () => original.fingerprint !== record.before || original.changed();
    await installReady(folder, record, { patience, now, changed });
  } finally {
    original.close();
    removeDatabase(copy);
  }
}

async function found<Value>({ file }: AttemptRecord, open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    throw databaseFault(error, file);
  }
}
