import { join } from 'node:path';
import { PhasegateError, type Run } from '@phasegate/core';
import {
  type AttemptRecord,
  attemptFiles,
  copiesOf,
  fateOf,
  filesIn,
  recordsIn,
  removeRecord,
  workingCopy,
} from './attemptRecord.ts';
import { removeDatabase } from './copies.ts';
import { installReady } from './installReady.ts';
import { watchOriginal } from './original.ts';
import { databaseFault } from './refused.ts';
import { TURN_FILE } from './takeTurn.ts';
import type { Patience } from './whenFree.ts';

/** How to find out what became of a run. */
export type LoadRun = (runId: string) => Promise<Run | undefined>;

/**
 * Finishes or throws away what a crash left in a folder of attempts, and leaves alone what waits for a human. Anyone who
 * calls has the turn, so nobody is at work on any of it.
 */
export async function settleLeftovers(
  folder: string,
  how: { readonly load: LoadRun | null; readonly patience: Patience; readonly now: () => number },
): Promise<void> {
  for (const name of filesIn(copiesOf(folder))) removeDatabase(join(copiesOf(folder), name));
  const kept = new Set<string>();
  for (const record of recordsIn(folder)) {
    const { ready, record: path } = attemptFiles(folder, record.id);
    if (how.load === null) {
      throw new PhasegateError(
        'database_busy',
        `a step of the run \`${record.mark.run}\` may have still to be put into \`${record.file}\``,
        { hint: 'open the project again' },
      );
    }
    const fate = fateOf(await how.load(record.mark.run), record);
    if (fate === 'install') await finish(folder, record, how);
    else if (fate === 'drop') removeRecord(path);
    else for (const file of [ready, path]) kept.add(file);
  }
  for (const name of filesIn(folder)) {
    const file = join(folder, name);
    if (!name.startsWith(TURN_FILE) && !kept.has(file)) removeDatabase(file);
  }
}

/** Doing it twice is harmless: a database that holds the step's result already is left alone. */
async function finish(
  folder: string,
  record: AttemptRecord,
  { patience, now }: { readonly patience: Patience; readonly now: () => number },
): Promise<void> {
  const { ready, record: path } = attemptFiles(folder, record.id);
  const copy = workingCopy(folder);
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
