import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { PhasegateError } from '@phasegate/core';

/**
 * Refuses a state directory that others could change behind our back: keys, runs and the audit are worth what the
 * folder they lie in is worth. Nothing of it may be a link, and all of it belongs to this user.
 */
export function requireOwnState(stateDir: string): void {
  const folder = lstatSync(stateDir);
  if (!folder.isDirectory())
    throw refused(stateDir, 'is a link or not a folder', `put a folder in its place`);
  requireOwner(stateDir, folder);
  if ((folder.mode & OTHERS_WRITE) !== 0)
    throw refused(stateDir, 'can be written by others', `chmod 700 ${stateDir}`);
  for (const name of FILES) {
    const file = join(stateDir, name);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    if (!stats.isFile()) throw refused(file, 'is a link or not a file', 'put the file itself in its place');
    requireOwner(file, stats);
    // A folder that nobody else can enter keeps them from what is in it.
    if ((stats.mode & OTHERS_WRITE) !== 0 && (folder.mode & OTHERS_ENTER) !== 0)
      throw refused(file, 'can be written by others', `chmod 600 ${file}`);
  }
}

const FILES = [
  'state.db',
  'state.db-wal',
  'state.db-shm',
  'state.db-journal',
  'database-url',
  'keys.json',
  'worktree.json',
] as const;
const OTHERS_WRITE = 0o022;
const OTHERS_ENTER = 0o011;

function requireOwner(path: string, { uid }: Stats): void {
  const own = process.getuid?.();
  if (own === undefined || uid === own) return;
  throw refused(
    path,
    `belongs to user ${uid}, not to ${own}`,
    `work as that user, or set XDG_STATE_HOME to a folder of your own`,
  );
}

function refused(path: string, what: string, hint: string): PhasegateError {
  return new PhasegateError('store_unavailable', `\`${path}\` ${what}, so its state cannot be trusted`, {
    hint,
  });
}
