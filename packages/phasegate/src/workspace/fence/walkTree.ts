import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { guardOf, isGuardedFolder } from '@phasegate/core/model';
import { datedWrites } from './datedWrites.ts';
import { deriveEntries } from './derivedEntries.ts';
import type { FileSystems } from './fileSystems.ts';
import type { FolderList, KnownLists, Step } from './folderLists.ts';
import { guardedInGit } from './guardedInGit.ts';
import type { IgnoreRules } from './ignoreRules.ts';
import { listOf } from './listOf.ts';
import type { Manifest, TreeEntry } from './manifest.ts';
import {
  bareEntry,
  closedEntry,
  isSameStat,
  NOTHING,
  readEntry,
  readLarge,
  statsOf,
  UNSETTLED,
  WHOLE,
} from './readEntry.ts';
import { isUnspelled, unspelledIn } from './unspelledNames.ts';

/** How a workspace is walked. */
export interface Walking {
  /** Real path. */
  readonly root: string;
  readonly rules: IgnoreRules;
  readonly tracked: readonly string[];
  /** A measure whose content hashes still hold where nothing about a file changed. */
  readonly before: Manifest | null;
  /** What is not the workspace's: the state of Phasegate, and databases that it guards in other ways. */
  readonly leaveOut: (path: string) => boolean;
  /** Whether a file is one of Phasegate's own by another name; absent: nobody knows. */
  readonly isOurs?: (file: TreeEntry) => boolean;
  /** Inodes of files that may change without another date from now on. */
  readonly mapped: () => Promise<ReadonlySet<string>>;
  /** Entries that are not the workspace's and belong to the measure: those of the home folder. */
  readonly home?: ReadonlyMap<string, TreeEntry>;
  /** What is known of folders from earlier walks by the same rules. */
  readonly lists?: KnownLists;
  /** Of this look. */
  readonly systems: FileSystems;
  /** Told the content of every file that had to be read. */
  readonly keep: (content: string, bytes: Buffer) => void;
  /** Told a file of ignore rules that is part of the workspace, before anything it could be about is walked. */
  readonly foundRules?: (folder: string) => IgnoreRules;
}

/** There is more than can be compared. */
export class TooMany extends Error {}

/** A file within this time of the start of a measure, or newer, may have changed without another date. */
const COARSE_NS = 50_000_000n;
/** So many questions to the file system are asked before others get their turn. */
const STRIDE = 1000;
/** The same in bytes that are read. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;
const MOST_ENTRIES = 1_000_000;
/**
 * Of files that are larger yet only the dates are compared, and so much is read of large ones in one walk: it takes one
 * command to make a file of many terabytes that has not a byte on disk.
 */
const LARGEST_READ = 4 * 1024 ** 3;
const MOST_READ = 8 * 1024 ** 3;

/**
 * Every path of the workspace that counts, with what it is now. Where nothing is different, these are the entries of the
 * measure before, and not a copy: most looks find nothing, and the one who compares sees it at once.
 */
export async function walkTree(walking: Walking): Promise<ReadonlyMap<string, TreeEntry>> {
  const { root, tracked, before } = walking;
  let { rules } = walking;
  const known = before?.entries ?? NO_ENTRIES;
  const seen: string[] = [];
  /** What is not as it was before. */
  const fresh = new Map<string, TreeEntry>();
  const open: Open[] = [{ folder: '', guardedOnly: false }];
  const settledBefore = before === null ? 0n : BigInt(before.started) - COARSE_NS;
  const isDated = datedWrites(before, walking.systems);
  const unread: Unread[] = [];
  /** Were listed, and not there any more when they were read. */
  const gone = new Set<string>();
  let [asked, bytes] = [0, 0];

  function isLong(): boolean {
    asked += 1;
    if (asked % STRIDE !== 0 && bytes < BYTES_AT_ONCE) return false;
    bytes = 0;
    return true;
  }

  function measure(path: string): void {
    // Not `join`, which would take a good part of the whole walk.
    const place = `${root}/${path}`;
    const stats = statsOf(place);
    if (seen.length >= MOST_ENTRIES) throw new TooMany(`it has more than ${MOST_ENTRIES} files`);
    if (stats === null || stats === 'closed') {
      if (stats === 'closed') found(path, NOTHING);
      return;
    }
    const was = known.get(path);
    const isSame = was !== undefined && stats.ctimeNs < settledBefore && isSameStat(was, stats);
    if (isSame && (was.type !== 'file' || isDated(stats.dev, place))) {
      seen.push(path);
      return;
    }
    const bare = bareEntry(stats);
    // A file is read when it is known who has it in memory; until then this is its place in the order of entries.
    if (bare.type === 'file') unread.push({ path, bare, isSame });
    found(path, bare.type === 'file' ? { ...bare, type: 'closed' } : readEntry(place, bare, walking.keep));
  }

  /** Files that are not known to be as before. */
  async function readFiles(): Promise<void> {
    if (unread.length === 0) return;
    const mapped = await walking.mapped();
    let left = MOST_READ;
    for (const { path, isSame, bare: listed } of unread) {
      if (isSame && !mapped.has(String(listed.inode))) {
        fresh.delete(path);
        continue;
      }
      const read = await readNow(`${root}/${path}`, Math.min(left, LARGEST_READ));
      if (read === 'too_large') continue;
      if (read === null) {
        fresh.delete(path);
        gone.add(path);
        continue;
      }
      fresh.set(path, mapped.has(String(read.inode)) ? { ...read, size: UNSETTLED } : read);
      if (read.size > BigInt(WHOLE)) left -= Number(read.size);
      else bytes += Number(read.size);
      if (isLong()) await nextTurn();
    }
  }

  /** Time has passed since it was listed: what was some program's file of a moment may be gone or another by now. */
  async function readNow(place: string, most: number): Promise<TreeEntry | null | 'too_large'> {
    const bare = bareNow(place);
    if (bare === null) return null;
    const isLarge = bare.type === 'file' && bare.size > BigInt(WHOLE);
    if (isLarge && bare.size > BigInt(most)) return 'too_large';
    const read = isLarge ? await readLarge(place, bare, most) : readEntry(place, bare, walking.keep);
    // What a card or a difference shows is never a key of ours, whatever it is called in the workspace.
    if (read.type === 'file' && read.links > 1n && walking.isOurs?.(read) === true)
      return { ...read, type: 'closed', content: '' };
    return read.type === 'closed' && statsOf(place) === null ? null : read;
  }

  function found(path: string, entry: TreeEntry): void {
    seen.push(path);
    fresh.set(path, entry);
  }

  function list(folders: Open): FolderList {
    const { folder, guardedOnly } = folders;
    const place = `${root}/${folder}`;
    const key = guardedOnly ? `${folder}/` : folder;
    const held = walking.lists?.find(key, place) ?? { dates: null };
    if (!('dates' in held)) return held;
    const listed = listOf(place);
    if (listed === null) {
      if (folder === '') throw new Error('its root cannot be listed');
      found(folder, closedEntry(join(root, folder)));
      return NO_LIST;
    }
    if (!guardedOnly && walking.foundRules !== undefined && listed.some(isRuleFile))
      rules = walking.foundRules(folder);
    const unspelled = listed.filter(({ name }) => isUnspelled(name));
    if (unspelled.length > 0) {
      const one = unspelledAs(folders, unspelled, { root, rules });
      if (one !== null) found(...one);
      return listFrom(
        folders,
        rules,
        listed.filter(({ name }) => !isUnspelled(name)),
      );
    }
    const made = listFrom(folders, rules, listed);
    walking.lists?.keep(key, held, made);
    return made;
  }

  async function takeAll({ files, others }: FolderList): Promise<void> {
    for (const path of files) {
      if (isLong()) await nextTurn();
      if (!walking.leaveOut(path)) measure(path);
    }
    for (const [path, step] of others) {
      if (walking.leaveOut(path)) continue;
      if (step === 'git') for (const inner of guardedInGit(root)) measure(inner);
      else open.push({ folder: path, guardedOnly: step === 'guarded' });
    }
  }

  for (let next = open.pop(); next !== undefined; next = open.pop()) await takeAll(list(next));
  const walked = tracked.length === 0 ? NO_PATHS : new Set(seen);
  for (const path of tracked) if (!walked.has(path) && !isBeyondLink(root, path)) measure(path);
  await readFiles();
  const there = gone.size === 0 ? seen : seen.filter((path) => !gone.has(path));
  addHome(walking.home ?? NO_ENTRIES, { known, seen: there, fresh });
  return fresh.size === 0 && there.length === known.size ? known : entriesOf(there, { known, fresh });
}

/** What stands at a path now, as far as it is known without reading it; null where there is nothing. */
function bareNow(place: string): TreeEntry | null {
  const stats = statsOf(place);
  if (stats === null) return null;
  return stats === 'closed' ? NOTHING : bareEntry(stats);
}

const NO_ENTRIES: ReadonlyMap<string, TreeEntry> = new Map();
const NO_PATHS: ReadonlySet<string> = new Set();
const NO_LIST: FolderList = { files: [], others: [] };

function entriesOf(
  seen: readonly string[],
  { known, fresh }: Record<'known' | 'fresh', ReadonlyMap<string, TreeEntry>>,
): ReadonlyMap<string, TreeEntry> {
  let came = 0;
  for (const path of fresh.keys()) if (!known.has(path)) came += 1;
  const isAnyGone = seen.length !== known.size + came;
  const left = isAnyGone ? new Set(seen) : NO_PATHS;
  const gone = isAnyGone ? [...known.keys()].filter((path) => !left.has(path)) : [];
  return deriveEntries(known, fresh, gone);
}

/** All names of a folder that cannot be asked about by their text are one entry, under the first of them. */
function unspelledAs(
  { folder, guardedOnly }: Open,
  names: readonly Dirent[],
  { root, rules }: Pick<Walking, 'root' | 'rules'>,
): [string, TreeEntry] | null {
  const prefix = folder === '' ? '' : `${folder}/`;
  const folders = new Set(names.filter((one) => one.isDirectory()).map(({ name }) => name));
  const counts = (name: string) => {
    const path = `${prefix}${name}`;
    return guardOf(path) !== null || !(guardedOnly || rules.ignores(path, folders.has(name)));
  };
  const [first] = names
    .map(({ name }) => name)
    .filter(counts)
    .sort();
  if (first === undefined) return null;
  return [`${prefix}${first}`, { ...NOTHING, content: unspelledIn(join(root, folder), counts) }];
}

function listFrom({ folder, guardedOnly }: Open, rules: IgnoreRules, listed: readonly Dirent[]): FolderList {
  const prefix = folder === '' ? '' : `${folder}/`;
  const files: string[] = [];
  const others: [string, Exclude<Step, 'measure'>][] = [];
  const stepAt = (path: string, isFolder: boolean): Step | null => {
    if (path === '.git' && isFolder) return 'git';
    const ignored = path !== '.git' && (guardedOnly || rules.ignores(path, isFolder));
    if (!isFolder) return !ignored || guardOf(path) !== null ? 'measure' : null;
    if (!ignored) return 'open';
    return isGuardedFolder(path) || leadsToGuarded(path) ? 'guarded' : null;
  };
  for (const entry of listed) {
    const path = `${prefix}${entry.name}`;
    const step = stepAt(path, entry.isDirectory());
    if (step === 'measure') files.push(path);
    else if (step !== null) others.push([path, step]);
  }
  return { files, others };
}

/** A folder of the workspace that is called `~` must not pass for the home folder, nor the other way round. */
function addHome(
  home: ReadonlyMap<string, TreeEntry>,
  {
    known,
    seen,
    fresh,
  }: {
    readonly known: ReadonlyMap<string, TreeEntry>;
    readonly seen: string[];
    readonly fresh: Map<string, TreeEntry>;
  },
): void {
  const walked = seen.some((path) => path.startsWith('~/')) ? new Set(seen) : NO_PATHS;
  for (const [path, entry] of home) {
    const was = known.get(path);
    if (walked.has(path)) {
      fresh.set(path, { ...entry, type: 'closed' });
      continue;
    }
    seen.push(path);
    if (was === undefined || !isEqual(was, entry)) fresh.set(path, entry);
  }
}

function isEqual(one: TreeEntry, other: TreeEntry): boolean {
  return (
    one.content === other.content &&
    one.type === other.type &&
    one.ctime === other.ctime &&
    one.mtime === other.mtime &&
    one.inode === other.inode &&
    one.size === other.size &&
    one.mode === other.mode &&
    one.device === other.device &&
    one.links === other.links
  );
}

interface Unread {
  readonly path: string;
  readonly bare: TreeEntry;
  /** Nothing about it is different, and yet that may not be enough. */
  readonly isSame: boolean;
}

interface Open {
  readonly folder: string;
  /** The folder is left out by the rules, and only the guard's own files in it count. */
  readonly guardedOnly: boolean;
}

function isRuleFile(entry: Dirent): boolean {
  return entry.name === '.gitignore' && !entry.isDirectory();
}

/** Folders on the way to guarded ones, as `.github` is to `.github/hooks`. */
function leadsToGuarded(path: string): boolean {
  return ['.github', '.praxis-os', '.opencode', '.codex'].includes(path);
}

/** What git has in its index below a folder that became a link is somewhere else now. */
function isBeyondLink(root: string, path: string): boolean {
  const names = path.split('/').slice(0, -1);
  return names.some((_, index) => {
    const stats = statsOf(join(root, ...names.slice(0, index + 1)));
    return stats === null || stats === 'closed' || !stats.isDirectory();
  });
}
