import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { lstatIfThere } from './openBeneath.ts';
import { PathRefused } from './pathRefused.ts';

/** A folder of the workspace that is held open, so that what stands at its path may change without moving it. */
export interface OpenFolder {
  readonly descriptor: number;
  /** Where an entry of this very folder is reached. */
  at(name: string): string;
  /** Throws `path_changed` unless this folder still stands at its path, reached through no link. */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a folder below a real root, following no link in any component; missing ones are made where `make` says so.
 * Node has no `openat`. On Linux each component is reached through the open handle of the one before instead, so one
 * that is swapped for a link cannot lead elsewhere; on other systems `recheck` before and after notices the swap.
 */
export async function openFolderBeneath(
  root: string,
  path: string,
  options: { readonly make: boolean },
): Promise<OpenFolder> {
  let place = root;
  let handle = await openFolder(root, '.');
  try {
    for (const name of path === '' ? [] : path.split('/')) {
      const next = `${reached(handle, place)}/${name}`;
      place = join(place, name);
      const shown = place.slice(root.length + 1);
      await demandFolder(next, shown, options);
      const inner = await openFolder(next, shown);
      await handle.close();
      handle = inner;
    }
    const folder = heldFolder(handle, place, path);
    await folder.recheck();
    return folder;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const HANDLES = '/proc/self/fd';
const THROUGH_HANDLES = existsSync(HANDLES);

function reached(handle: FileHandle, place: string): string {
  return THROUGH_HANDLES ? `${HANDLES}/${handle.fd}` : place;
}

async function demandFolder(at: string, shown: string, { make }: { readonly make: boolean }): Promise<void> {
  let stats = await lstatIfThere(at);
  if (stats === null && make) {
    await mkdir(at).catch((error: NodeJS.ErrnoException) => {
      // Someone made it, or something else, at the same moment; the next look says what.
      if (error.code !== 'EEXIST') throw error;
    });
    stats = await lstatIfThere(at);
  }
  if (stats === null) throw new PathRefused('path_not_found', `there is no folder \`${shown}\``);
  if (stats.isSymbolicLink())
    throw new PathRefused('path_is_link', `\`${shown}\` is a link, which is not followed`);
  if (!stats.isDirectory()) throw new PathRefused('path_not_a_folder', `\`${shown}\` is not a folder`);
}

async function openFolder(at: string, shown: string): Promise<FileHandle> {
  try {
    return await open(at, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ELOOP' || code === 'ENOTDIR' || code === 'ENOENT') throw changed(shown);
    throw error;
  }
}

function heldFolder(handle: FileHandle, place: string, path: string): OpenFolder {
  const same = (one: Stats, other: Stats) => one.ino === other.ino && one.dev === other.dev;
  return {
    descriptor: handle.fd,
    at: (name) => `${reached(handle, place)}/${name}`,
    async recheck() {
      const now = await lstatIfThere(place);
      if (now === null || !same(now, await handle.stat())) throw changed(path);
      if ((await realpath(place)) !== place) throw changed(path);
    },
    close: () => handle.close(),
  };
}

function changed(path: string): PathRefused {
  return new PathRefused('path_changed', `the folder \`${path || '.'}\` changed while it was used`);
}
