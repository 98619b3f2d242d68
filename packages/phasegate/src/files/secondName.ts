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

/** What a file is known by, whatever its names. */
export interface FileNumbers {
  readonly device: bigint;
  readonly inode: bigint;
}

/** Whether a file is one of those in a folder, or in the folders directly below it; the folder is read when first asked. */
export function ownFilesOf(folder: string): (file: FileNumbers) => boolean {
  let known: ReadonlySet<string> | null = null;
  return ({ device, inode }) => {
    known ??= new Set(numbersIn(folder, 1));
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
