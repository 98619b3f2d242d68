import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { readRegular } from '../../files/readRegular.ts';
import { MAX_SOURCE_BYTES } from '../readSource.ts';

/** Which files there are, as far as looking for an import asks. Paths are absolute. */
export interface FileView {
  isFile(path: string): boolean;
  isFolder(path: string): boolean;
  /** Where a folder really is. */
  real(folder: string): string;
  /** What a file says; null where it cannot be read. */
  text(file: string): string | null;
}

/** The files of this machine. */
export const ON_DISK: FileView = {
  isFile: (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  isFolder: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
  real: (folder) => realpathSync(folder),
  text(file) {
    try {
      return readRegular(file, { most: MAX_SOURCE_BYTES, links: 'follow' }).toString('utf8');
    } catch {
      return null;
    }
  },
};

/** The files of a closure and no others, by their names in it, beneath `/`. */
export function viewOf(texts: ReadonlyMap<string, string>): FileView {
  const folders = new Set(['/']);
  for (const path of texts.keys()) {
    const parts = path.split('/');
    for (let count = 1; count < parts.length; count++) folders.add(`/${parts.slice(0, count).join('/')}`);
  }
  const named = (path: string) => slashed(path).replace(/^\//, '');
  return {
    isFile: (path) => texts.has(named(path)),
    isFolder: (path) => folders.has(`/${named(path)}`.replace(/(?<=.)\/$/, '')),
    real: (folder) => folder,
    text: (file) => texts.get(named(file)) ?? null,
  };
}

/** A path with forward slashes. */
export function slashed(path: string): string {
  return path.split(sep).join('/');
}
