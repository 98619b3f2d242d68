import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import { reasonOf } from '@phasegate/core/model';
import { unparsable } from './unparsable.ts';

/** No source is larger than this. */
export const MAX_TASKS_BYTES = 2 * 1024 * 1024;

/** A source's text and where it really came from. */
export interface TasksFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

/**
 * Reads a `tasks.md`, or the one in a folder. Throws `path_outside` for a path that leaves the project, also by
 * a link, `too_large` over 2 MB, and `source_parse_failed` for what is not text.
 */
export async function readTasksFile(root: string, path: string): Promise<TasksFile> {
  const named = await beneath(root, path);
  const file = await fileOf(root, named, path);
  const bytes = await readBytes(file.real, path);
  const nul = bytes.indexOf(0);
  if (nul !== -1) throw unparsable(path, lineOf(bytes, nul), 'it holds a NUL byte, so it is not text');
  if (!isUtf8(bytes)) throw unparsable(path, firstBadLine(bytes), 'it is not UTF-8');
  return {
    path: file.path,
    text: bytes.toString('utf8'),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

interface Place {
  /** Relative to the project. */
  readonly path: string;
  readonly real: string;
}

async function beneath(root: string, path: string): Promise<Place> {
  const outside = new PhasegateError('path_outside', `\`${path}\` leaves the project`, {
    hint: 'name a file or folder inside the project',
  });
  if (path.includes('\0')) throw outside;
  const full = resolve(root, path);
  if (!isBeneath(root, full)) throw outside;
  let real: string;
  let realRoot: string;
  try {
    [realRoot, real] = await Promise.all([realpath(root), realpath(full)]);
  } catch (cause) {
    throw unreadable(path, cause);
  }
  if (!isBeneath(realRoot, real)) throw outside;
  return { path: relative(root, full).split(sep).join('/'), real };
}

/** The file itself, or `tasks.md` in the folder. */
async function fileOf(root: string, named: Place, path: string): Promise<Place> {
  const stats = await stat(named.real);
  if (!stats.isDirectory()) return named;
  const inside = named.path === '' ? 'tasks.md' : `${named.path}/tasks.md`;
  try {
    await stat(join(named.real, 'tasks.md'));
  } catch (cause) {
    throw unparsable(path, 1, 'the folder has no `tasks.md`', cause);
  }
  const found = await beneath(root, inside);
  if ((await stat(found.real)).isDirectory()) throw unparsable(path, 1, '`tasks.md` in it is a folder');
  return found;
}

async function readBytes(real: string, path: string): Promise<Buffer> {
  const tooLarge = new PhasegateError('too_large', `\`${path}\` is over ${MAX_TASKS_BYTES} bytes`, {
    hint: 'split it; a source is at most 2 MB',
  });
  try {
    // Not blocking and not following: a pipe or a link put here meanwhile must not hold us up or lead us away.
    const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw unparsable(path, 1, 'it is not a file');
      if (stats.size > MAX_TASKS_BYTES) throw tooLarge;
      // One byte more than was there, so that a file growing meanwhile is noticed.
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size + 1), 0, stats.size + 1, 0);
      if (bytesRead > MAX_TASKS_BYTES) throw tooLarge;
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw cause instanceof PhasegateError ? cause : unreadable(path, cause);
  }
}

function isBeneath(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function unreadable(path: string, cause: unknown): PhasegateError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const missing = code === 'ENOENT' || code === 'ENOTDIR';
  const reason = missing ? 'does not exist' : `cannot be read: ${reasonOf(cause)}`;
  return new PhasegateError('file_unreadable', `\`${path}\` ${reason}`, {
    cause,
    hint: 'name a `tasks.md`, or the folder that holds one',
  });
}

function lineOf(bytes: Buffer, end: number): number {
  return bytes.subarray(0, end).filter((byte) => byte === 10).length + 1;
}

function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(10, start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? bytes.length : end))) return line;
    if (end === -1) break;
    start = end + 1;
  }
  return 1;
}
