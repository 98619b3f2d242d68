import { lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** A file that nobody else can lock until it is released, or until this process ends. */
export interface FileLock {
  release(): void;
}

/**
 * Locks a file, made where it is missing; null where another process, or another part of this one, has it. It is a
 * lock of the operating system's: it ends with its process however that ends, so nothing stale can be in the way and
 * no two can both think they have it. The file must not be opened by other means in this process: closing it would
 * drop the lock.
 */
export function lockFile(file: string): FileLock | null {
  const there = lstatSync(file, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile()) throw new Error(`\`${file}\` is not a plain file`);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  let released = false;
  return {
    release() {
      if (!released) database.close();
      released = true;
    },
  };
}

const BUSY = 5;

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' && (code & 0xff) === BUSY;
}
