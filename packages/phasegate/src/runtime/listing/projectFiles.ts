import { type Dirent, existsSync, readdirSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { factsOf } from './fileFacts.ts';
import { joined, type Place, SKIPPED } from './places.ts';

const MOST_FILES = 2000;
/** Of one place. Each takes some microseconds at every look. */
const MOST_FOLDERS = 100_000;

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
  readonly cut: Cut | null;
}

/** Of what there is too much. */
export interface Cut {
  readonly of: 'files' | 'folders';
  readonly most: number;
  /** The folder that holds most of it; empty for the root. */
  readonly below: string;
  /** Whether it was looked for there because a glob says so. */
  readonly byGlob: boolean;
}

/** The files that may define workflows, relative to the root, in order: all that lie in these places. */
export async function findFiles(
  root: string,
  places: readonly Place[],
  {
    accepts = () => true,
    entriesOf = (folder) => readEntries(root, folder, accepts),
    isInside = insideOf(root),
  }: Partial<Walk> = {},
): Promise<FoundFiles> {
  const found = new Set<string>();
  const turn = turns();
  let cut: Cut | null = null;
  for (const place of places) {
    if (place.folder !== '' && !isInside(place.folder)) continue;
    // Each place has a bound of its own: where one is full, the others are looked through all the same.
    const full = await search(place, { accepts, entriesOf, found, turn });
    cut ??= full;
    if (found.size > MOST_FILES) return { files: [...found].slice(0, MOST_FILES).sort(), cut: full };
  }
  return { files: [...found].sort(), cut };
}

/** Looks through one place, what lies higher first; says where there is more than is looked at. */
async function search(place: Place, { accepts, entriesOf, found, turn }: Search): Promise<Cut | null> {
  const { byGlob } = place;
  const folders: Level[] = [place];
  let isFull = false;
  for (const level of folders) {
    if (turn.isOver()) await turn.next();
    const { files, below } = wantedIn(level, place, entriesOf(level.folder));
    for (const path of files) if (accepts(path)) found.add(path);
    // What is found first must not hide the rest: that there is more is said.
    if (found.size > MOST_FILES) return { of: 'files', most: MOST_FILES, below: fullest([...found]), byGlob };
    for (const folder of below) {
      isFull ||= folders.length >= MOST_FOLDERS;
      if (!isFull) folders.push({ folder, depth: level.depth - 1 });
    }
  }
  if (!isFull) return null;
  const all = folders.map(({ folder }) => `${folder}/`);
  return { of: 'folders', most: MOST_FOLDERS, below: fullest(all), byGlob };
}

/** A folder, and how much deeper is looked. */
type Level = Pick<Place, 'folder' | 'depth'>;

interface Search extends Pick<Walk, 'accepts' | 'entriesOf'> {
  readonly found: Set<string>;
  readonly turn: Turns;
}

/** What of a folder matters to a place. */
function wantedIn(
  { folder, depth }: Level,
  { wanted, leads }: Place,
  entries: readonly FolderEntry[],
): { readonly files: readonly string[]; readonly below: readonly string[] } {
  const files: string[] = [];
  const below: string[] = [];
  for (const { name, kind } of entries) {
    const path = joined(folder, name);
    if (SKIPPED.has(name)) continue;
    if (kind === 'file' && wanted(path)) files.push(path);
    if (kind === 'folder' && depth > 0 && leads(path)) below.push(path);
  }
  return { files, below };
}

/** The deepest folder that holds more than half of these paths. */
function fullest(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const above = path.slice(0, at);
      counts.set(above, (counts.get(above) ?? 0) + 1);
    }
  }
  const full = [...counts].filter(([, count]) => 2 * count > paths.length).map(([folder]) => folder);
  return full.reduce((deepest, one) => (one.length > deepest.length ? one : deepest), '');
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
  places: readonly Place[],
  accepts: Walk['accepts'],
): () => Promise<FoundFiles> {
  const kept: KeptFolders = new Map();
  const listed = keptFolders(root, { kept, accepts });
  let last: { readonly files: FoundFiles; readonly asked: readonly Asked[] } | undefined;
  return async () => {
    const inside = insideOf(root);
    const seen = new Map<string, readonly FolderEntry[]>();
    // Each folder is asked about once in a look, however many places it lies in.
    const entriesOf: FolderLister = (folder) => {
      const entries = seen.get(folder) ?? listed(folder);
      seen.set(folder, entries);
      return entries;
    };
    if (last !== undefined && (await isAsItWas(last.asked, { entriesOf, inside }))) return last.files;
    const asked: Asked[] = [];
    const files = await findFiles(root, places, {
      accepts,
      entriesOf(folder) {
        const entries = entriesOf(folder);
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
    // Folders come and go without end, and what is not there any more need not be remembered.
    for (const folder of kept.keys()) if (!seen.has(folder)) kept.delete(folder);
    return files;
  };
}

async function isAsItWas(
  asked: readonly Asked[],
  { entriesOf, inside }: { readonly entriesOf: FolderLister; readonly inside: Walk['isInside'] },
): Promise<boolean> {
  const turn = turns();
  for (const { folder, entries, isIn } of asked) {
    if (turn.isOver()) await turn.next();
    const isSame = entries ? entriesOf(folder) === entries : inside(folder) === isIn;
    if (!isSame) return false;
  }
  return true;
}

/** A question about a folder, and its answer. */
interface Asked {
  readonly folder: string;
  readonly entries?: readonly FolderEntry[];
  readonly isIn?: boolean;
}

type KeptFolders = Map<string, { readonly facts: string; readonly entries: readonly FolderEntry[] }>;

/** Lists folders, each again only if it may have changed. */
function keptFolders(
  root: string,
  { kept, accepts }: { readonly kept: KeptFolders; readonly accepts: Walk['accepts'] },
): FolderLister {
  return (folder) => {
    const now = factsOf(pathIn(root, folder), 'follow');
    const known = kept.get(folder);
    if (known !== undefined && known.facts === now?.facts) return known.entries;
    kept.delete(folder);
    const entries = readEntries(root, folder, accepts);
    if (now?.settled === true) kept.set(folder, { facts: now.facts, entries });
    return entries;
  };
}

/** The absolute path of something in the project. */
export function pathIn(root: string, path: string): string {
  return path === '' ? root : `${root}/${path}`;
}

/** What matters of a folder: a project has many more files than workflows. */
function readEntries(root: string, folder: string, accepts: Walk['accepts']): readonly FolderEntry[] {
  let entries: readonly Dirent[];
  try {
    entries = readdirSync(pathIn(root, folder), { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .flatMap((entry): readonly FolderEntry[] => {
      const { name } = entry;
      if (entry.isFile()) return accepts(joined(folder, name)) ? [{ name, kind: 'file' }] : [];
      return entry.isDirectory() && !SKIPPED.has(name) ? [{ name, kind: 'folder' }] : [];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Says whether a folder is there and, with every link followed, still in the project. */
export function insideOf(root: string): (folder: string) => boolean {
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

/** Anyone who may make folders may make many, so others are served between some of them. */
function turns(): Turns {
  let count = 0;
  return {
    isOver() {
      count += 1;
      return count % FOLDERS_OF_A_TURN === 0;
    },
    next: () => new Promise((resume) => setImmediate(resume)),
  };
}

interface Turns {
  isOver(): boolean;
  next(): Promise<void>;
}

/** About a millisecond of them. */
const FOLDERS_OF_A_TURN = 256;
