import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Whether what stands at a path has several names (hard links): by no name can it be said whose it is. */
export function hasSeveralNames(path: string): boolean {
  const found = lookAt(path);
  return found?.isFile() === true && found.nlink > 1n;
}

/**
 * Whether a file is one of those in some folders, or in the folders directly below them, by another name. Looked at only
 * where it has several names; of more than there could be, it is taken to be one.
 */
export function isSecondName(path: string, folders: readonly string[]): boolean {
  if (!hasSeveralNames(path)) return false;
  const wanted = lookAt(path);
  let left = MOST;
  const isIn = (folder: string, depth: number): boolean =>
    entriesOf(folder).some((entry) => {
      left -= 1;
      if (left < 0) return true;
      if (entry.isDirectory()) return depth > 0 && isIn(join(folder, entry.name), depth - 1);
      const found = lookAt(join(folder, entry.name));
      return found !== undefined && found.ino === wanted?.ino && found.dev === wanted.dev;
    });
  return folders.some((folder) => isIn(folder, 1));
}

/** The same for many files: the folders are read once, and only when the first file with several names is asked for. */
export function secondNamesOf(folders: () => readonly string[]): (path: string) => boolean {
  let isOurs: ReturnType<typeof ownFilesOf> | undefined;
  return (path) => {
    const found = lookAt(path);
    if (found?.isFile() !== true || found.nlink <= 1n) return false;
    isOurs ??= ownFilesOf(folders);
    return isOurs({ device: found.dev, inode: found.ino });
  };
}

/** What a file is known by, whatever its names. */
export interface FileNumbers {
  readonly device: bigint;
  readonly inode: bigint;
}

/** Whether a file is one of those in some folders, or in the folders directly below them; all are read when first asked. */
export function ownFilesOf(folders: () => readonly string[]): (file: FileNumbers) => boolean {
  let known: ReadonlySet<string> | null = null;
  return ({ device, inode }) => {
    known ??= new Set(folders().flatMap((folder) => numbersIn(folder, 1)));
    return known.has(`${device}:${inode}`) || known.size > MOST;
  };
}

function numbersIn(folder: string, depth: number): readonly string[] {
  return entriesOf(folder).flatMap((entry) => {
    const place = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? numbersIn(place, depth - 1) : [];
    const found = lookAt(place);
    return found === undefined ? [] : [`${found.dev}:${found.ino}`];
  });
}

const MOST = 50_000;

function lookAt(path: string) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // Behind a file, too long, or not ours to look at.
    return undefined;
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
