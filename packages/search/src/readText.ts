import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@phasegate/core/model';

/** What a file holds: text, or the reason why it is left out; null when it has gone. */
export type ReadText =
  | { readonly ok: true; readonly sha256: string; readonly text: string }
  | {
      readonly ok: false;
      readonly sha256: string;
      readonly reason: string;
      /** Whether the same file may be readable next time. */
      readonly passing: boolean;
    };

/** No document is larger than this. */
export const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;

/** Reads a document of the project, following no link. `root` is a real path. */
export function readText(root: string, path: string): ReadText | null {
  const place = join(root, path);
  try {
    const bytes = bytesAt(place, MAX_DOCUMENT_BYTES);
    if (bytes === null || realpathSync(place) !== place) return null;
    if (bytes === 'larger') return leftOut(`is over ${MAX_DOCUMENT_BYTES / 1024 / 1024} MB`);
    if (bytes.includes(0)) return leftOut('holds a NUL byte, so it is not text');
    if (!isUtf8(bytes)) return leftOut('is not UTF-8');
    return { ok: true, sha256: hash('sha256', bytes, 'hex'), text: bytes.toString('utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR'
      ? null
      : leftOut(`cannot be read: ${reasonOf(error)}`, true);
  }
}

/**
 * What is in a file, through no link; null where something else stands there. Waits for nobody: a pipe put in its place
 * must not hold us up.
 */
export function bytesAt(place: string, most: number): Buffer | 'larger' | null {
  const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return null;
    if (stats.size > most) return 'larger';
    // One byte more than was there: a file that grows meanwhile is read next time.
    const bytes = Buffer.allocUnsafe(stats.size + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, length);
    if (length > stats.size) throw new Error('it grew while it was read');
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** Whether what stands for a file's hash says that it was left out. */
export function isLeftOut(sha256: string): boolean {
  return sha256.startsWith(LEFT_OUT);
}

const LEFT_OUT = 'left out: ';

function leftOut(reason: string, passing = false): ReadText {
  return { ok: false, sha256: `${LEFT_OUT}${reason}`, reason, passing };
}
