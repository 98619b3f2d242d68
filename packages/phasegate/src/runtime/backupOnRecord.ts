import { own, PhasegateError } from '@phasegate/core';
import type { AuditStore, DatabaseBackup } from './ports.ts';

/**
 * A backup with the hash it had when it was made, as the project's signed chain has it: whoever can write the file or
 * the table of backups cannot write that. One that is not on record is refused; one from before hashes were kept has none.
 */
export async function backupOnRecord(
  store: Pick<AuditStore, 'history'>,
  backup: DatabaseBackup,
): Promise<DatabaseBackup> {
  for (let after = 0; ; ) {
    const records = await store.history(null, { after, limit: PAGE });
    for (const { event, data } of records) {
      const key = NAMED[event];
      if (key === undefined || own(data, key) !== backup.id) continue;
      const sha256 = own(data, 'sha256');
      return typeof sha256 === 'string' ? { ...backup, sha256 } : backup;
    }
    const newest = records.at(-1)?.seq;
    if (records.length < PAGE || newest === undefined) break;
    after = newest;
  }
  throw new PhasegateError('database_refused', `the backup \`${backup.id}\` is not on record`, {
    hint: 'somebody has put it into the list: `phasegate database backups` shows the others',
  });
}

const PAGE = 1000;

/** Which events name a backup that was made, and where: before a restore, what was there is backed up too. */
const NAMED: Readonly<Record<string, string>> = {
  user_database_backed_up: 'id',
  user_database_restored: 'before',
};
