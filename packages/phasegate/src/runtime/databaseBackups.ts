import { own, PhasegateError, type Run } from '@phasegate/core';
import type {
  AuditStore,
  DatabaseBackup,
  DatabaseBackupStore,
  DatabaseBackups,
  Databases,
  HumanStore,
} from './ports.ts';
import { demandRole } from './roles.ts';

/** What backups of authors' databases are built from. */
export interface DatabaseBackupParts {
  readonly store: DatabaseBackupStore & AuditStore & Pick<HumanStore, 'humans'>;
  readonly databases: Pick<Databases, 'backup' | 'restore'>;
  load(runId: string): Promise<Run>;
  /** ISO time. */
  now(): string;
}

/** Builds them. */
export function createDatabaseBackups({ store, databases, load, now }: DatabaseBackupParts): DatabaseBackups {
  return {
    async make(runId) {
      const { workflow } = await load(runId);
      if (workflow.database === undefined) return null;
      const backup = await databases.backup(runId, workflow.database);
      const { file } = workflow.database;
      const data = { run: runId, id: backup.id, file, path: backup.path, ...hashOf(backup) };
      const event = 'user_database_backed_up' as const;
      await store.putBackup(backup, [{ time: now(), principal: 'engine:phasegate', event, data }]);
      return backup;
    },
    list: () => store.databaseBackups(),
    async restore(backupId, human) {
      await demandRole(store, human.principal, { least: 'admin', what: 'restoring a database' });
      const backup = (await store.databaseBackups()).find(({ id }) => id === backupId);
      const database = backup?.run == null ? undefined : (await load(backup.run)).workflow.database;
      if (backup === undefined || database === undefined) {
        throw new PhasegateError('usage', `there is no backup \`${backupId}\` of a run's database`, {
          hint: 'phasegate database backups',
        });
      }
      // Linked to the same run, so that what was there before can be found and put back as well.
      const onRecord = await backupOnRecord(store, backup);
      const before = { ...(await databases.restore(onRecord, database)), run: backup.run };
      const { file } = database;
      const data = { backup: backup.id, run: backup.run, file, before: before.id, ...hashOf(before) };
      const event = 'user_database_restored' as const;
      const note = { time: now(), principal: `human:${human.principal.name}`, event, data };
      if (before.id === backup.id) await store.note(null, [note]);
      else await store.putBackup(before, [note]);
      return before;
    },
  };
}

function hashOf({ sha256 }: DatabaseBackup): { readonly sha256?: string } {
  return sha256 === undefined ? {} : { sha256 };
}

/**
 * A backup with the hash it had when it was made, as the project's signed chain has it: anyone who can write the file or
 * the table of backups cannot write that. One that is not on record is refused; one from before hashes were kept has none.
 */
async function backupOnRecord(
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

/** Stands where nobody gave a way to authors' databases: every use of one is refused. */
export const NO_DATABASES: Databases = {
  begin: async () => refuseDatabase(),
  waiting: async () => refuseDatabase(),
  drop: async () => undefined,
  recover: async () => undefined,
  backup: async () => refuseDatabase(),
  restore: async () => refuseDatabase(),
  migrate: async () => refuseDatabase(),
  protect: async () => undefined,
  protection: async () => () => false,
};

function refuseDatabase(): never {
  throw new PhasegateError('usage', 'this project was opened without a way to databases of workflows');
}
