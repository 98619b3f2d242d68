import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { DefinitionSource } from '../runtime/ports.ts';

/** No definition and no schema is larger than this. */
export const MAX_SOURCE_BYTES = 1_048_576;

/**
 * Reads a file of the project as text. `path` is relative to `root`. A path that leaves the project, also by a
 * symlink in any of its components, is refused before anything is opened.
 */
export async function readSource(root: string, path: string): Promise<DefinitionSource> {
  const inside = await resolveInside(root, path);
  if (!inside.ok) return failed(inside.code, inside.message);
  const read = await readBytes(inside.real, path);
  if (!read.ok) return read;
  const { bytes } = read;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const nul = bytes.indexOf(0);
  if (nul !== -1) {
    const before = bytes.subarray(0, nul);
    const line = before.filter((byte) => byte === 10).length + 1;
    const column = nul - before.lastIndexOf(10);
    return { ...failed('nul_byte', `\`${path}\` holds a NUL byte, so it is not text`), line, column, sha256 };
  }
  if (!isUtf8(bytes)) {
    return { ...failed('not_utf8', `\`${path}\` is not UTF-8`), line: firstBadLine(bytes), sha256 };
  }
  const text = bytes.toString('utf8');
  return { ok: true, path: inside.path, text: text.startsWith('\uFEFF') ? text.slice(1) : text, sha256 };
}

/** Where a path of the project really is; refuses one that leaves the project. */
export async function resolveInside(
  root: string,
  path: string,
): Promise<
  | { readonly ok: true; readonly path: string; readonly real: string }
  | { readonly ok: false; readonly code: 'path_outside' | 'file_unreadable'; readonly message: string }
> {
  if (path.includes('\0')) return { ok: false, code: 'path_outside', message: 'a path holds no NUL byte' };
  const outside = { ok: false, code: 'path_outside', message: `\`${path}\` leaves the project` } as const;
  const full = resolve(root, path);
  if (isAbsolute(path) || path.includes('\\') || !isBeneath(root, full)) return outside;
  try {
    const [realRoot, real] = await Promise.all([realpath(root), realpath(full)]);
    if (!isBeneath(realRoot, real)) return outside;
    return { ok: true, path: relative(root, full).split(sep).join('/'), real };
  } catch (error) {
    return { ok: false, code: 'file_unreadable', message: `\`${path}\` ${reason(error)}` };
  }
}

function isBeneath(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function readBytes(
  real: string,
  path: string,
): Promise<{ readonly ok: true; readonly bytes: Buffer } | (DefinitionSource & { readonly ok: false })> {
  try {
    // Not blocking and not following: a pipe or a link put here meanwhile must not hold us up or lead us away.
    const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return failed('file_unreadable', `\`${path}\` is not a file`);
      if (stats.size > MAX_SOURCE_BYTES) {
        return failed('too_large', `\`${path}\` has ${stats.size} bytes; the limit is ${MAX_SOURCE_BYTES}`);
      }
      const bytes = await readToEnd(handle, stats.size);
      if (bytes.length > MAX_SOURCE_BYTES)
        return failed('too_large', `\`${path}\` is over ${MAX_SOURCE_BYTES} bytes`);
      return { ok: true, bytes };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return failed('file_unreadable', `\`${path}\` ${reason(error)}`);
  }
}

/** All of a file, or one byte more than a definition may have: it may have grown since its size was asked for. */
async function readToEnd(handle: FileHandle, size: number): Promise<Buffer> {
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length > MAX_SOURCE_BYTES) return bytes.subarray(0, length);
    if (length < bytes.length) continue;
    const larger = Buffer.allocUnsafe(Math.min(2 * bytes.length, MAX_SOURCE_BYTES + 1));
    bytes.copy(larger);
    bytes = larger;
  }
}

function failed(
  code: (DefinitionSource & { ok: false })['code'],
  message: string,
): DefinitionSource & { readonly ok: false } {
  return { ok: false, code, message, line: 1, column: 1 };
}

function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start <= bytes.length; line++) {
    const end = bytes.indexOf(10, start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? bytes.length : end))) return line;
    if (end === -1) break;
    start = end + 1;
  }
  return 1;
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'is not there';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  if (code === 'ELOOP') return 'is a symlink';
  return `cannot be read (${code})`;
}
