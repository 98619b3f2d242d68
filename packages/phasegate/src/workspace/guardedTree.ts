import { type BigIntStats, type Dirent, lstatSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { guardOf, isGuardedFolder } from '@phasegate/core/model';
import { identityOf, type Sighting, sight } from './fileIdentity.ts';
import { type GuardedEntry, OVERFULL, readGuardedEntry, type SeenEntry } from './guardedEntry.ts';

/** What a walk found: the guard's own files, and the folders it did not get to. */
export interface GuardedReading {
  readonly tree: ReadonlyMap<string, GuardedEntry>;
  /** Folders that were left out because there are too many. */
  readonly beyond: readonly string[];
}

/** Reads the guard's own files below a root again and again. */
export interface GuardedReader {
  /** Whatever the walk gets to, it looks at these paths. */
  read(known: Iterable<string>): Promise<GuardedReading>;
}

/** What of a folder is walked: places where the guard's files always are, then everything up to a limit. */
const PLACES = [
  'workflows',
  '.phasegate',
  '.praxis-os/workflows',
  '.claude',
  '.cursor',
  '.codex',
  '.gemini',
  '.github/hooks',
  '.opencode',
  '.vscode',
  '.git/hooks',
];
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** Of each place, and of everything else: a folder that did not change costs one question. */
const MOST_FOLDERS = 20_000;
/** So many questions to the file system are asked before others get their turn. */
const STRIDE = 500;
/** The same in bytes that are read. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;
/**
 * So much content is kept of the files that were there before, and of all others: beyond it only size and times are
 * known. Anyone who adds files must neither fill our memory nor take the room of those that belong there.
 */
const MOST_BYTES = 128 * 1024 * 1024;

/** What of a folder matters here. */
interface Listing {
  readonly sighting: Sighting;
  readonly folders: readonly string[];
  /** Files that are the guard's own by their names. */
  readonly files: readonly string[];
}

interface Walked {
  readonly seen: Map<string, Listing>;
  readonly beyond: readonly string[];
  /** Places of guarded files that have more in them than is looked at: something could hide behind it. */
  readonly overfull: readonly string[];
}

/**
 * Builds a reader for a real root. It finds the guard's own files at any depth outside `node_modules`. Of `.git` only the
 * hooks count: the rest is git's to change. Links are not followed: one in the place of a guarded file, or of a folder of
 * them, is itself kept.
 *
 * INVARIANT: a folder is listed again unless it cannot have changed; the files themselves are looked at every time.
 */
export function createGuardedReader(root: string, mostFolders = MOST_FOLDERS): GuardedReader {
  let listings = new Map<string, Listing>();
  let entries = new Map<string, SeenEntry>();

  /** The listing of a folder that is there and not reached through a link; null where there is none. */
  async function listingOf(folder: string): Promise<Listing | null> {
    const place = join(root, folder);
    const stats = statsOfFolder(place);
    if (stats === null) return null;
    const before = listings.get(folder);
    if (before?.sighting.settled && before.sighting.identity === identityOf(stats)) return before;
    const sighting = sight(stats, before?.sighting);
    const listed = await entriesOf(place, stats);
    const found = listed ?? [];
    const pathOf = ({ name }: Dirent) => (folder === '' ? name : `${folder}/${name}`);
    return {
      sighting: { ...sighting, settled: sighting.settled && listed !== null },
      folders: found.filter((entry) => entry.isDirectory() && !SKIPPED.has(entry.name)).map(pathOf),
      files: found.filter((entry) => !entry.isDirectory() && isCandidate(pathOf(entry), entry)).map(pathOf),
    };
  }

  async function walkAll(): Promise<Walked> {
    const seen = new Map<string, Listing>();
    let asked = 0;

    /** Gives the folders it did not get to. */
    async function walk(from: string): Promise<readonly string[]> {
      const open = [from];
      let at = 0;
      for (; at < open.length && at < mostFolders; at += 1) {
        const folder = open[at] as string;
        if (seen.has(folder)) continue;
        asked += 1;
        if (asked % STRIDE === 0) await nextTurn();
        const listing = await listingOf(folder);
        if (listing === null) continue;
        seen.set(folder, listing);
        for (const inner of listing.folders) open.push(inner);
      }
      return open.slice(at).filter((folder) => !seen.has(folder));
    }

    const overfull: string[] = [];
    for (const place of PLACES) {
      if (!isLinked(root, place) && (await walk(place)).length > 0) overfull.push(place);
    }
    const beyond = (await walk('')).filter(
      (folder) => !overfull.some((place) => folder.startsWith(`${place}/`)),
    );
    return { seen, beyond, overfull };
  }

  async function lookAt(
    paths: readonly string[],
    found: (path: string, seen: SeenEntry) => void,
  ): Promise<void> {
    let [asked, bytes, room] = [0, 0, MOST_BYTES];
    for (const path of paths) {
      const seen = readGuardedEntry(join(root, path), { before: entries.get(path), room });
      const size = seen?.entry.content?.length ?? 0;
      room -= size;
      bytes += size;
      asked += 1;
      if (seen !== null) found(path, seen);
      if (asked % STRIDE !== 0 && bytes < BYTES_AT_ONCE) continue;
      bytes = 0;
      await nextTurn();
    }
  }

  return {
    async read(known) {
      const { seen, beyond, overfull } = await walkAll();
      listings = seen;
      const paths = new Set([...seen.values()].flatMap(({ files }) => files));
      for (const place of linkedPlaces(root)) paths.add(place);
      // A walk may not get as far as the one before, and what was looked at then is looked at now.
      for (const path of known) if (!paths.has(path) && !isLinked(root, folderOf(path))) paths.add(path);
      const tree = new Map<string, GuardedEntry>();
      const looked = new Map<string, SeenEntry>();
      const before = new Set(known);
      for (const some of [
        [...paths].filter((path) => before.has(path)),
        [...paths].filter((path) => !before.has(path)),
      ])
        await lookAt(some.sort(shallowFirst), (path, seenNow) => {
          looked.set(path, seenNow);
          tree.set(path, seenNow.entry);
        });
      for (const place of overfull) tree.set(place, OVERFULL);
      entries = looked;
      return { tree, beyond };
    },
  };
}

// What the names of guarded files and of their folders have in them. Asking the guard about every file would take
// most of the time of a walk.
const LIKELY = /workflow|contract|config|mcp\.json|opencode|[^\x21-\x7e]|[~:]|\.$/i;
const HIDDEN = /(?:^|\/)\.|^workflows\//i;

function isCandidate(path: string, entry: Dirent): boolean {
  if (SAMPLE.test(path) && entry.isFile()) return false;
  if (!LIKELY.test(entry.name) && !HIDDEN.test(path)) return false;
  if (guardOf(path) !== null) return true;
  // A link in the place of a folder would hide all that is in it.
  return entry.isSymbolicLink() && (guardOf(`${path}/x`) !== null || isGuardedFolder(path));
}

/** `git init` writes these, and git runs nothing of such a name: a repository that is made later is nobody's trick. */
const SAMPLE = /^\.git\/hooks\/[a-z0-9-]+\.sample$/;

/**
 * Where a place of guarded files, or a folder on the way to it, is a link or a pipe. Asked for by their names: the walk
 * does not list `.git`, and anyone who puts a link there brings hooks from anywhere. So does anyone who writes a `commondir`.
 */
function linkedPlaces(root: string): readonly string[] {
  const ways = PLACES.flatMap((place) => {
    const names = place.split('/');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set([...ways, COMMON])].filter((way) => {
    if (isLinked(root, folderOf(way))) return false;
    const stats = lstatSync(join(root, way), { throwIfNoEntry: false });
    return stats !== undefined && !stats.isDirectory() && (!stats.isFile() || way === COMMON);
  });
}

/** Says where git finds its hooks and its config, if that is not here. */
const COMMON = '.git/commondir';

/** A folder that is reached through a link is not this project's to keep. */
function isLinked(root: string, folder: string): boolean {
  let place = root;
  for (const name of folder === '' ? [] : folder.split('/')) {
    place = join(place, name);
    if (statsOfFolder(place) === null) return true;
  }
  return false;
}

/** What stands near the root matters most where there is not room for all. */
function shallowFirst(one: string, other: string): number {
  return one.split('/').length - other.split('/').length || (one < other ? -1 : 1);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Null where there is no folder, or none that we may look at. */
function statsOfFolder(place: string): BigIntStats | null {
  try {
    const stats = lstatSync(place, { bigint: true, throwIfNoEntry: false });
    return stats?.isDirectory() ? stats : null;
  } catch {
    // In a folder that is closed to us, or below what became a file: then nothing of it can be read.
    return null;
  }
}

/**
 * Null where it cannot be listed: gone, or somebody else's. One of our own that is closed to us is opened: anyone who
 * knows a name in it can read that file all the same.
 */
async function entriesOf(folder: string, stats: BigIntStats): Promise<readonly Dirent[] | null> {
  const list = () => readdir(folder, { withFileTypes: true });
  const mode = Number(stats.mode) & 0o7777;
  return list()
    .catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EACCES') return null;
      await chmod(folder, mode | 0o700);
      return list();
    })
    .catch(() => null);
}
