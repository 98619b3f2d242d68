import { PhasegateError } from '@phasegate/core';
import { type AttemptRecord, attemptFiles, removeRecord } from './attemptRecord.ts';
import { keepAside } from './backups.ts';
import { removeDatabase, replaceContents } from './copies.ts';
import { databaseFault } from './refused.ts';
import type { Patience } from './whenFree.ts';

/**
 * Puts what an accepted step left in the database's place. Where someone else wrote to it, theirs stays and ours is
 * kept aside: neither is lost, and a human can tell which it should be.
 */
export async function installReady(
  folder: string,
  record: AttemptRecord,
  how: { readonly patience: Patience; readonly now: () => number; readonly changed: () => boolean },
): Promise<void> {
  const { ready, record: path } = attemptFiles(folder, record.id);
  const conflict = new PhasegateError(
    'database_changed',
    `someone else wrote to \`${record.file}\` during a step`,
  );
  try {
    await replaceContents(ready, record.file, {
      patience: how.patience,
      changed: () => (how.changed() ? conflict : null),
    });
  } catch (error) {
    if (error !== conflict) throw databaseFault(error, record.file);
    const kept = keepAside(ready, record.file, how.now());
    removeRecord(path);
    removeDatabase(ready);
    throw new PhasegateError(conflict.code, `${conflict.message} of the run \`${record.mark.run}\``, {
      hint: `their database stays; the step's is kept in \`${kept}\``,
    });
  }
  // In this order: a record without its copy could not be carried out, a copy without its record is only swept up.
  removeRecord(path);
  removeDatabase(ready);
}
