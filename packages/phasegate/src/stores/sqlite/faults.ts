import { dirname } from 'node:path';
import { own, PhasegateError } from '@phasegate/core';
import { systemReason } from '@phasegate/core/model';

/** Says in Phasegate's words what SQLite or the file system refused; a fault of ours passes through. */
export function storeFault(error: unknown, file: string): PhasegateError {
  if (error instanceof PhasegateError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const refused = systemReason(error);
  if (refused !== null) {
    // The file itself would be made: it is its folder that is missing.
    const missing = ['ENOENT', 'ENOTDIR'].includes(String(own(error, 'code')));
    const why = missing ? 'its folder does not exist' : refused.reason;
    // No option names another place for the state.
    const isReadOnly = own(error, 'code') === 'EROFS';
    const hint = isReadOnly ? `make \`${dirname(file)}\` writable for this user` : refused.hint;
    return unavailable(file, why, { cause: error, hint });
  }
  if (own(error, 'code') !== 'ERR_SQLITE_ERROR') {
    return new PhasegateError('internal', `the store of \`${file}\` failed: ${reason}`, { cause: error });
  }
  const code = primaryCode(error);
  // A statement that does not fit the tables means that they are not the ones we made.
  if (code === CORRUPT || code === NOT_A_DATABASE || code === NO_SUCH_TABLE)
    return corrupt(file, reason, error);
  if (code === CONSTRAINT) {
    return new PhasegateError(
      'audit_broken',
      `\`${file}\` holds a record where the next one belongs: ${reason}`,
      {
        cause: error,
        hint: 'run `phasegate audit verify` to see what was changed',
      },
    );
  }
  const [why, hint] = REASONS.get(code) ?? [reason];
  return unavailable(file, why, { cause: error, ...(hint === undefined ? {} : { hint }) });
}

/** The fault of a file that is not an intact database of ours. */
export function corrupt(file: string, reason: string, cause?: unknown): PhasegateError {
  return new PhasegateError('store_corrupt', `\`${file}\` cannot be read as a database: ${reason}`, {
    cause,
    hint: 'run `phasegate restore FILE` with a backup; the damaged file is kept beside it',
  });
}

/** The fault of a database that is there but cannot be used now. */
export function unavailable(
  file: string,
  reason: string,
  more: { readonly cause?: unknown; readonly hint?: string } = {},
): PhasegateError {
  return new PhasegateError('store_unavailable', `\`${file}\` cannot be used: ${reason}`, more);
}

/** Whether another process held the database for too long. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === BUSY;
}

/** Whether the database or its disk is at fault: then every write meets it, no matter who brought it. */
export function isOfTheDatabase(error: unknown): boolean {
  if (own(error, 'code') === 'ERR_SQLITE_ERROR') return !OF_ONE_WRITE.has(primaryCode(error));
  return error instanceof PhasegateError || systemReason(error) !== null;
}

const NO_SUCH_TABLE = 1;
const BUSY = 5;
const CORRUPT = 11;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
/** Too big, a constraint, a type, a range: the values of one write. */
const OF_ONE_WRITE: ReadonlySet<number> = new Set([18, CONSTRAINT, 20, 25]);

const LOCKED = 'end the process that works with it, or wait, and try again';
const ALLOW = 'look at the owner and the permissions of the file and of its folder with `ls -ld`';

const REASONS: ReadonlyMap<number, readonly [reason: string, hint: string]> = new Map([
  [BUSY, ['another process keeps it locked', LOCKED]],
  [6, ['another connection keeps it locked', LOCKED]],
  [8, ['it is read-only', ALLOW]],
  [10, ['the disk takes no more, or reported a fault', 'make room or look at the disk, and try again']],
  [13, ['the disk is full', 'make room and try again']],
  [14, ['it cannot be opened or its folder cannot be written', ALLOW]],
]);

/** The low byte is the error; the rest of SQLite's number only refines it. */
function primaryCode(error: unknown): number {
  const code = own(error, 'errcode');
  return typeof code === 'number' ? code & 0xff : 0;
}
