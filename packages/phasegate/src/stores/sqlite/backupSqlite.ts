import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { backup, type DatabaseSync } from 'node:sqlite';
import { own, type PhasegateError } from '@phasegate/core';
import type { BackupRecord } from '../../runtime/ports.ts';
import { storeFault, unavailable } from './faults.ts';

/** Copies the database while it is in use; the record is written by the caller, with `write`. */
export async function backupSqlite(options: {
  readonly database: DatabaseSync;
  readonly file: string;
  readonly now: () => number;
}): Promise<{ readonly record: BackupRecord; readonly write: () => void }> {
  const path = resolve(options.file);
  if (existsSync(path)) throw isThere(path);
  const draft = `${path}.${randomUUID()}.partial`;
  let made = false;
  try {
    // Made before anything is in it: in the copy are hashes of keys, and keys that guesses can be tried on.
    closeSync(openSync(draft, 'wx', 0o600));
    made = true;
    // All pages in one step: in smaller ones a busy writer could make the copy begin anew without end.
    await backup(options.database, draft, { rate: ALL_PAGES });
    sync(draft);
    // A link, unlike a rename, fails where a file has come to be meanwhile.
    linkSync(draft, path);
    sync(dirname(path));
  } catch (error) {
    if (own(error, 'code') === 'EEXIST') throw isThere(path);
    throw storeFault(error, path);
  } finally {
    if (made) for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true });
  }
  const record: BackupRecord = {
    id: randomUUID(),
    createdAt: new Date(options.now()).toISOString(),
    path,
    sizeBytes: statSync(path).size,
  };
  return { record, write: () => insert(options.database, record) };
}

function isThere(path: string): PhasegateError {
  return unavailable(path, 'it exists, and a backup never overwrites', {
    hint: 'name a file that is not there yet, or none: the copy then goes to `backups/` in the state directory',
  });
}

const ALL_PAGES = 2 ** 31 - 1;

function insert(database: DatabaseSync, { id, createdAt, path, sizeBytes }: BackupRecord): void {
  database
    .prepare('INSERT INTO database_backups (id, created_at, path, size_bytes) VALUES (?, ?, ?, ?)')
    .run(id, createdAt, path, sizeBytes);
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
