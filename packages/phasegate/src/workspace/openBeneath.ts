import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { oneLine } from '@phasegate/core/model';
import { PathRefused } from './pathRefused.ts';

/** What stands at a path of the workspace. */
export type Found =
  | { readonly kind: 'file' | 'folder' | 'other'; readonly stats: Stats }
  | { readonly kind: 'missing' }
  /** A component of the path is a symbolic link, which is never followed. */
  | { readonly kind: 'link'; readonly at: string };

/** Looks at a normal relative path below a real folder, one component after the other, following no link. */
export async function findBeneath(root: string, path: string): Promise<Found> {
  let stats = await lstat(root);
  let place = root;
  for (const name of path === '' ? [] : path.split('/')) {
    if (name === '' || name === '.' || name === '..' || name.includes('\0')) return { kind: 'missing' };
    place = join(place, name);
    const next = await lstatIfThere(place);
    if (next === null) return { kind: 'missing' };
    if (next.isSymbolicLink()) return { kind: 'link', at: place.slice(root.length + 1) };
    stats = next;
  }
  return { kind: stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other', stats };
}

/**
 * Opens a regular file below a real folder for reading, following no link. Node has no `openat`, so the path is
 * looked at before, and afterwards the file itself is asked where it lies: anyone who swaps a component for a link and
 * back in between is caught by that.
 */
export async function openBeneath(
  root: string,
  path: string,
): Promise<{ readonly found: Found; readonly file: FileHandle | null }> {
  const found = await findBeneath(root, path);
  if (found.kind !== 'file') return { found, file: null };
  const place = join(root, path);
  // Non-blocking, so that a pipe put in the file's place cannot hold us.
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const opened = await file.stat();
    const same = opened.isFile() && opened.ino === found.stats.ino && opened.dev === found.stats.dev;
    if (!same || (await placeOf(file, place)) !== place)
      throw new PathRefused('path_changed', `\`${oneLine(path)}\` changed while it was opened`);
    return { found, file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Where an open file lies. Where the system does not say, all that is known is where its path leads by now. */
async function placeOf(file: FileHandle, path: string): Promise<string> {
  try {
    return await readlink(`/proc/self/fd/${file.fd}`);
  } catch {
    return realpath(path);
  }
}

/** Looks at what stands at a path without following a link; null when nothing does. */
export async function lstatIfThere(place: string): Promise<Stats | null> {
  try {
    return await lstat(place);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return null;
    throw error;
  }
}
