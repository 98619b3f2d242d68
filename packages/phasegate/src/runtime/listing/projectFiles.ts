import { type Dirent, existsSync, readdirSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { compileGlob } from '@phasegate/core/model';
import { factsOf } from './fileFacts.ts';

/** Folders that hold workflows at any depth; at the root itself only files count. */
const FOLDERS = ['workflows', '.phasegate/workflows', '.praxis-os/workflows'];
const SKIPPED = new Set(['node_modules', '.git', 'dist']);
const MOST_FILES = 2000;
const MOST_FOLDERS = 20_000;
const DEEPEST = 6;

/** What lies in a folder, in order; links are neither files nor folders. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/** Lists a folder by its path relative to the root; one that cannot be read is empty. */
export type FolderLister = (folder: string) => readonly FolderEntry[];

/** What was found; `cut` where there is more than is looked at, so that no name stands for certain. */
export interface FoundFiles {
  readonly files: readonly string[];
  readonly cut: boolean;
}

/** The files that may define workflows, relative to the root, in order: in their folders, and where the globs say. */
export function findFiles(
  root: string,
  globs: readonly string[],
  {
    entriesOf = (folder) => readEntries(pathIn(root, folder)),
    isInside = insideOf(root),
    accepts = () => true,
  }: Partial<Walk> = {},
): FoundFiles {
  const found = new Set<string>();
  let cut = false;
  const keep = (path: string) => {
    // What is found first must not hide the rest: that there is more is said.
    if (found.size >= MOST_FILES && !found.has(path)) cut = true;
    else found.add(path);
  };
  // What lies higher comes first: anyone may make thousands of folders below, and not hide what is beside them.
  const places: Place[] = [{ folder: '', depth: 0, wanted: () => true }];
  for (const folder of FOLDERS)
    if (isInside(folder)) places.push({ folder, depth: DEEPEST, wanted: () => true });
  for (const glob of globs) {
    const folder = literalPrefix(glob);
    if (isInside(folder)) places.push({ folder, depth: DEEPEST, wanted: compileGlob(glob) });
  }
  for (const [index, { folder, depth, wanted }] of places.entries()) {
    if (index >= MOST_FOLDERS) {
      cut = true;
      break;
    }
    for (const { name, kind } of entriesOf(folder)) {
      if (SKIPPED.has(name)) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind === 'file' && wanted(path) && accepts(path)) keep(path);
      else if (kind === 'folder' && depth > 0 && places.length <= MOST_FOLDERS)
        places.push({ folder: path, depth: depth - 1, wanted });
    }
  }
  return { files: [...found].sort(), cut };
}

/** A folder that is looked into, with those below it. */
interface Place {
  readonly folder: string;
  readonly depth: number;
  readonly wanted: (path: string) => boolean;
}

/** What a search for files asks: what lies in a folder, and whether a folder lies in the project. */
interface Walk {
  readonly entriesOf: FolderLister;
  readonly isInside: (folder: string) => boolean;
  /** Only what a loader takes is counted. */
  readonly accepts: (path: string) => boolean;
}

/**
 * Finds the files again and again. While every folder on the way answers as it did, the very list from before is given:
 * its files are then all there is to ask about.
 */
export function keptFiles(
  root: string,
  globs: readonly string[],
  accepts: Walk['accepts'],
): () => FoundFiles {
  const listed = keptFolders(root);
  let last: { readonly files: FoundFiles; readonly asked: readonly Asked[] } | undefined;
  return () => {
    const inside = insideOf(root);
    if (
      last?.asked.every(({ folder, entries, isIn }) =>
        entries ? listed(folder) === entries : inside(folder) === isIn,
      )
    )
      return last.files;
    const asked: Asked[] = [];
    const files = findFiles(root, globs, {
      accepts,
      entriesOf(folder) {
        const entries = listed(folder);
        asked.push({ folder, entries });
        return entries;
      },
      isInside(folder) {
        const isIn = inside(folder);
        asked.push({ folder, isIn });
        return isIn;
      },
    });
    last = { files, asked };
    return files;
  };
}

/** A question about a folder, and its answer. */
interface Asked {
  readonly folder: string;
  readonly entries?: readonly FolderEntry[];
  readonly isIn?: boolean;
}

/** Lists folders, each again only if it may have changed. */
function keptFolders(root: string): FolderLister {
  const kept = new Map<string, { readonly facts: string; readonly entries: readonly FolderEntry[] }>();
  return (folder) => {
    const path = pathIn(root, folder);
    const now = factsOf(path, 'follow');
    const known = kept.get(folder);
    if (known !== undefined && known.facts === now?.facts) return known.entries;
    kept.delete(folder);
    const entries = readEntries(path);
    if (now?.settled === true) kept.set(folder, { facts: now.facts, entries });
    return entries;
  };
}

/** The absolute path of something in the project. */
export function pathIn(root: string, path: string): string {
  return path === '' ? root : `${root}/${path}`;
}

function readEntries(folder: string): readonly FolderEntry[] {
  let entries: readonly Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .flatMap((entry): readonly FolderEntry[] => {
      if (entry.isFile()) return [{ name: entry.name, kind: 'file' }];
      return entry.isDirectory() ? [{ name: entry.name, kind: 'folder' }] : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The folder a glob starts in, so that a search need not walk the whole project. */
function literalPrefix(glob: string): string {
  const parts = glob.split('/');
  const wild = parts.findIndex((part) => /[*?{[]/.test(part));
  return parts.slice(0, wild === -1 ? parts.length - 1 : wild).join('/');
}

/** Says whether a folder is there and, with every link followed, still in the project. */
function insideOf(root: string): (folder: string) => boolean {
  let real: string | undefined;
  return (folder) => {
    // Asked first: most projects have one of the folders, and a fault costs more than a look.
    if (!existsSync(pathIn(root, folder))) return false;
    try {
      real ??= realpathSync.native(root);
      return `${realpathSync.native(pathIn(root, folder))}${sep}`.startsWith(`${real}${sep}`);
    } catch {
      return false;
    }
  };
}
