import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { reasonOf } from '@phasegate/core/model';
import { NotRegular, readRegular } from '../files/readRegular.ts';
import type { DefinitionSource } from '../runtime/ports.ts';

/** No definition and no schema is larger than this. */
export const MAX_SOURCE_BYTES = 1_048_576;

/**
 * Reads a file of the project as text. `path` is relative to `root`. A path that leaves the project, also by a
 * symlink in any of its components, is refused before anything is opened.
 */
export async function readSource(root: string, path: string): Promise<DefinitionSource> {
  const inside = resolveInside(root, path);
  return inside.ok ? readResolved(inside, path) : failed(inside.code, inside.message);
}

/** Reads a file whose path was resolved. */
export function readResolved(
  inside: { readonly path: string; readonly real: string },
  path: string,
): DefinitionSource {
  const read = readBytes(inside.real, path);
  if (!read.ok) return read;
  const { bytes } = read;
  const sha256 = hash('sha256', bytes);
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

/** What tells two readings of a file apart, whatever is made of them. */
export function markOf(source: DefinitionSource): string {
  return source.ok ? `${source.sha256} ${source.path}` : JSON.stringify(source);
}

/** Where a path of the project really is; refuses one that leaves the project. */
export function resolveInside(
  root: string,
  path: string,
):
  | { readonly ok: true; readonly path: string; readonly real: string }
  | { readonly ok: false; readonly code: 'path_outside' | 'file_unreadable'; readonly message: string } {
  if (path.includes('\0')) return { ok: false, code: 'path_outside', message: 'a path holds no NUL byte' };
  const outside = { ok: false, code: 'path_outside', message: `\`${path}\` leaves the project` } as const;
  const full = resolve(root, path);
  if (isAbsolute(path) || path.includes('\\') || !isBeneath(root, full)) return outside;
  try {
    const [realRoot, real] = [realpathSync.native(root), realpathSync.native(full)];
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

/** Definitions are small and are read at every start, and each step that waits for another thread takes longer than reading one. */
function readBytes(
  real: string,
  path: string,
): { readonly ok: true; readonly bytes: Buffer } | (DefinitionSource & { readonly ok: false }) {
  try {
    return { ok: true, bytes: readRegular(real, { most: MAX_SOURCE_BYTES, links: 'refuse' }) };
  } catch (error) {
    if (!(error instanceof NotRegular)) return failed('file_unreadable', `\`${path}\` ${reason(error)}`);
    const code = error.code === 'not_a_file' ? 'file_unreadable' : error.code;
    return failed(code, `\`${path}\` ${error.message}`);
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
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read';
  if (code === 'ELOOP') return 'is a symlink';
  return `cannot be read: ${reasonOf(error)}`;
}
