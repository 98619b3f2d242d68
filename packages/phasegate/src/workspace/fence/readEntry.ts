import { hash as digest } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { bytesOf } from '../../files/readRegular.ts';
import { digestLarge } from './digestLarge.ts';
import type { EntryType, TreeEntry } from './manifest.ts';

/** Files that are read at once; larger ones are read in pieces. */
export const WHOLE = 16 * 1024 * 1024;

/** Null where it is gone, `closed` where we may not ask. */
export function statsOf(place: string): BigIntStats | null | 'closed' {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? null : 'closed';
  }
}

/** What the file system says of a path, without its content. */
export function bareEntry(stats: BigIntStats): TreeEntry {
  return {
    type: typeOf(stats),
    mode: Number(stats.mode) & 0o7777,
    device: stats.dev,
    inode: stats.ino,
    size: stats.size,
    mtime: stats.mtimeNs,
    ctime: stats.ctimeNs,
    links: stats.nlink,
    content: '',
  };
}

function typeOf(stats: BigIntStats): EntryType {
  return stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : 'other';
}

/** What stands for a path that cannot be read. */
export function closedEntry(place: string): TreeEntry {
  const stats = statsOf(place);
  const bare = stats === null || stats === 'closed' ? NOTHING : bareEntry(stats);
  return { ...bare, type: 'closed' };
}

/** What may not even be asked about. */
export const NOTHING: TreeEntry = {
  type: 'closed',
  mode: 0,
  device: 0n,
  inode: 0n,
  size: 0n,
  mtime: 0n,
  ctime: 0n,
  links: 0n,
  content: '',
};

/** No file has this size, so one that is said to have it is read again. */
export const UNSETTLED = -1n;

/** Whether nothing that is asked of the file system is different; what could not be read is tried again. */
export function isSameStat(one: TreeEntry, stats: BigIntStats): boolean {
  return (
    one.ctime === stats.ctimeNs &&
    one.mtime === stats.mtimeNs &&
    one.size === stats.size &&
    one.inode === stats.ino &&
    one.device === stats.dev &&
    one.links === stats.nlink &&
    one.mode === (Number(stats.mode) & 0o7777) &&
    one.type === typeOf(stats)
  );
}

/** What is in an open file: as much as it was said to hold, in one piece, or more where it grew since. */
function readOpened(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size + 1);
  const read = readSync(file, bytes, 0, size + 1, null);
  // Less than there is room for is all there is.
  if (read <= size) return bytes.subarray(0, read);
  return bytesOf(file, 2 * size, WHOLE);
}

/** What stands there with its content. Never follows a link, and waits for no pipe. */
export function readEntry(
  place: string,
  bare: TreeEntry,
  keep: (content: string, bytes: Buffer) => void,
): TreeEntry {
  if (bare.type === 'other') return bare;
  try {
    if (bare.type === 'link') return { ...bare, content: readlinkSync(place) };
    const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      // What was opened is what is read: another file may have come in its place.
      const opened = bareEntry(fstatSync(file, { bigint: true }));
      if (opened.type !== 'file') return opened;
      // It grew since it was asked about.
      if (opened.size > BigInt(WHOLE)) return { ...opened, type: 'closed' };
      const bytes = readOpened(file, Number(opened.size));
      const content = digest('sha256', bytes, 'hex');
      keep(content, bytes);
      return { ...opened, content };
    } finally {
      closeSync(file);
    }
  } catch {
    return { ...bare, type: 'closed' };
  }
}

/** The same for a large file; closed where it is more than may be read. */
export async function readLarge(place: string, bare: TreeEntry, most: number): Promise<TreeEntry> {
  let file: number;
  try {
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return { ...bare, type: 'closed' };
  }
  try {
    const opened = bareEntry(fstatSync(file, { bigint: true }));
    if (opened.type !== 'file') return opened;
    const content = await digestLarge(file, most);
    return content === null ? { ...opened, type: 'closed' } : { ...opened, content };
  } catch {
    return { ...bare, type: 'closed' };
  } finally {
    closeSync(file);
  }
}
