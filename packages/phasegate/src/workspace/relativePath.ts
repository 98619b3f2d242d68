/**
 * A path as the engine judges it: relative to the workspace, forward slashes, without `.` and empty parts; `''` is
 * the workspace itself. Null for one that is absolute, leaves the workspace, or cannot be a path on every system.
 */
export function relativePath(given: string): string | null {
  if (given.startsWith('/') || /[\0\\]/.test(given) || /^[A-Za-z]:/.test(given)) return null;
  if (!given.isWellFormed() || Buffer.byteLength(given) > MAX_BYTES) return null;
  const parts = given.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) return null;
  return parts.join('/');
}

const MAX_BYTES = 4000;
const MAX_NAME_BYTES = 255;
