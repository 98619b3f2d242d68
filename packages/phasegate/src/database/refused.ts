import { own, PhasegateError } from '@phasegate/core';

/** The fault of a statement the protected database does not take. */
export function refused(message: string, hint?: string): PhasegateError {
  return new PhasegateError('database_refused', message, hint === undefined ? {} : { hint });
}

/** The fault of a database that others kept in use for longer than we wait. */
export function busy(file: string, cause?: unknown): PhasegateError {
  return new PhasegateError('database_busy', `\`${file}\` is in use by another process`, {
    cause,
    hint: 'end what uses it, or try again when it is done; nothing was changed',
  });
}

/** Whether SQLite could not get a lock. */
export function isBusy(error: unknown): boolean {
  if (error instanceof PhasegateError) return error.code === 'database_busy';
  const code = own(error, 'errcode');
  // Node's `backup` rejects with "not an error", 0, where the other side is locked.
  return typeof code === 'number' && [0, BUSY, LOCKED].includes(code & 0xff);
}

/** Says about the user's file what SQLite or the file system said; a fault of ours passes through. */
export function databaseFault(error: unknown, file: string): PhasegateError {
  if (error instanceof PhasegateError) return error;
  if (isBusy(error)) return busy(file, error);
  const reason = error instanceof Error ? error.message : String(error);
  return new PhasegateError('file_unreadable', `the database \`${file}\` cannot be used: ${reason}`, {
    cause: error,
  });
}

const BUSY = 5;
const LOCKED = 6;
