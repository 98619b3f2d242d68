import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';
import type { Seal } from '../../runtime/ports.ts';
import { corrupt, isBusy, storeFault } from './faults.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations/index.ts';

/** Opens the database of a project, made or brought up to date where needed; all of it or nothing. */
export function openDatabase(file: string, seal: Seal): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    requireWritable(file);
    database = new DatabaseSync(file);
    // A full disk must not lose a run it had already answered for, hence FULL: WAL's default would.
    database.exec(
      `PRAGMA busy_timeout=${BUSY_TIMEOUT}; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA wal_autocheckpoint=${LOG_PAGES}`,
    );
    enterWal(database);
    migrate(database, file, seal);
    return database;
  } catch (error) {
    database?.close();
    throw storeFault(error, file);
  }
}

/** Refuses a database that is not ours, or that a newer version wrote; gives its version. */
export function requireKnownVersion(database: DatabaseSync, file: string): number {
  const version = numberOf(database, 'PRAGMA user_version');
  if (numberOf(database, 'PRAGMA application_id') !== APPLICATION_ID) {
    const empty = version === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
    // Asked again: another first process may have made it ours between two of these questions.
    if (!empty && numberOf(database, 'PRAGMA application_id') !== APPLICATION_ID)
      throw corrupt(file, 'it is a database, but not one of Phasegate');
  }
  if (version > MIGRATIONS.length) {
    throw new PhasegateError(
      'store_newer',
      `\`${file}\` was written by a newer version of Phasegate (format ${version}; this one knows ${MIGRATIONS.length})`,
      { hint: 'install the newer version; nothing was changed' },
    );
  }
  return version;
}

const BUSY_TIMEOUT = 5000;

/**
 * So many pages gather in the log, 16 MB, before they are brought to their places: four times what SQLite does by itself.
 * The one whose commit comes then waits for two more flushes and for every page that changed, and most change again.
 */
const LOG_PAGES = 4000;

/** SQLite opens a read-only file without a word and fails at the first write; better to say so at once. */
function requireWritable(file: string): void {
  // Made here rather than by SQLite, so that nobody else can read it from its first byte on.
  closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600));
  accessSync(dirname(file), constants.W_OK);
}

/** Changing the journal mode does not wait for other processes by itself, so two first openers must. */
function enterWal(database: DatabaseSync): void {
  // Not `performance`, whose module takes longer to load than opening takes.
  const now = () => process.uptime() * 1000;
  const deadline = now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode=WAL');
      return;
    } catch (error) {
      if (!isBusy(error) || now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function migrate(database: DatabaseSync, file: string, seal: Seal): void {
  if (requireKnownVersion(database, file) === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Asked again under the lock: another process may have migrated meanwhile.
    const version = requireKnownVersion(database, file);
    for (const { sql, fill, indexes } of MIGRATIONS.slice(version)) {
      database.exec(sql);
      fill?.(database, seal);
      if (indexes !== undefined) database.exec(indexes);
    }
    database.exec(
      `PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${MIGRATIONS.length}; COMMIT`,
    );
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function numberOf(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
