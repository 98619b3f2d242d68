import { existsSync } from 'node:fs';
import { PhasegateError } from '@phasegate/core';
import { type AttemptRecord, attemptFiles, removeRecord } from './attemptRecord.ts';
import { keepAside } from './backups.ts';
import { removeDatabase, replaceContents } from './copies.ts';
import { hashFile } from './fingerprint.ts';
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
  if (!(await isAsSealed(folder, record))) {
    throw setAside('the sealed copy of a step was changed by someone else');
  }
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
    throw setAside(conflict.message);
  }
  // In this order: a record without its copy could not be carried out, a copy without its record is only swept up.
  removeRecord(path);
  removeDatabase(ready);

  function setAside(message: string): PhasegateError {
    const kept = existsSync(ready)
      ? `the step's is kept in \`${keepAside(ready, record.file, how.now())}\``
      : "the step's is gone";
    removeRecord(path);
    removeDatabase(ready);
    return new PhasegateError('database_changed', `${message} of the run \`${record.mark.run}\``, {
      hint: `the database was left as it is; ${kept}`,
    });
  }
}

/** Whether a sealed copy is byte for byte what was sealed. */
export async function isAsSealed(folder: string, { id, sealed }: AttemptRecord): Promise<boolean> {
  if (sealed === undefined) return true;
  const { ready } = attemptFiles(folder, id);
  return existsSync(ready) && (await hashFile(ready)) === sealed;
}
