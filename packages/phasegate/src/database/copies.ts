import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { own } from '@phasegate/core';
import { refused } from './refused.ts';
import { type Patience, whenFree } from './whenFree.ts';

/** A connection of our own to a database that is there. It reads; only locks are taken with it. */
export function connect(file: string): DatabaseSync {
  const place = pathToFileURL(file);
  place.searchParams.set('mode', 'rw');
  const database = new DatabaseSync(place, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    database.exec('PRAGMA trusted_schema=OFF');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Begins to read, and reads: from here on nothing changes under our eyes. */
export function beginReading(database: DatabaseSync): void {
  database.exec('BEGIN');
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** Copies a database, in use or not, to a new file: one file, complete, and on the disk. */
export async function copyOut(source: DatabaseSync, to: string, mode = 0o600): Promise<void> {
  // Made here rather than by SQLite, so that nobody else can read it from its first byte on.
  closeSync(openSync(to, 'wx', mode));
  try {
    await backup(source, to, { rate: ALL_PAGES });
    const copy = new DatabaseSync(to);
    // The copy of a database in WAL mode would be another, with files beside it.
    copy.exec('PRAGMA journal_mode=DELETE');
    copy.close();
    syncPath(to);
    syncPath(dirname(to));
  } catch (error) {
    removeDatabase(to);
    throw error;
  }
}

/**
 * Puts the pages of one database in the place of another's, in one transaction of SQLite's. `changed` is asked when
 * the other is locked against everybody and nothing is written for good: if it says so, all of it is undone.
 */
export async function replaceContents(
  from: string,
  to: string,
  { patience, changed }: { readonly patience: Patience; readonly changed: () => Error | null },
): Promise<void> {
  const source = connect(from);
  function require(): void {
    const fault = changed();
    if (fault !== null) throw fault;
  }
  try {
    const pages = Number(own(source.prepare('PRAGMA page_count').get(), 'page_count'));
    await whenFree(to, patience, async () => {
      require();
      // The lock is taken with the first page, and Node asks `progress` while some are left: so one must be.
      await backup(source, to, { rate: Math.max(1, pages - 1), progress: require });
    });
  } finally {
    source.close();
  }
}

/** Refuses a file that is not a sound database. */
export function requireSound(database: DatabaseSync, what: string): void {
  const found = own(database.prepare('PRAGMA quick_check(1)').get(), 'quick_check');
  if (found !== 'ok') throw refused(`${what} is damaged: ${String(found)}`);
}

/** Tables, views, indexes and triggers, as one text; not what SQLite keeps for itself. */
export function schemaOf(database: DatabaseSync): string {
  const rows = database
    .prepare(
      "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY type, name",
    )
    .all();
  return JSON.stringify(rows);
}

/** Removes a database of our own with what SQLite puts beside it. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
}

/** Waits until the disk has it. Never for a database that is open in this process: closing it drops its locks. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const ALL_PAGES = 2 ** 31 - 1;
