import { hash } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesOf, NotRegular, withRegular } from '../../files/readRegular.ts';
import { type Sighting, sight } from '../fileIdentity.ts';
import { HOME_FILES, HOME_FOLDERS, type HomeKind, weightOf } from './homeSettings.ts';
import type { TreeEntry } from './manifest.ts';

/** The guard's files of the home folder as they are now, and what could not be looked at. */
export interface HomeReading {
  /** By paths that begin with `~/`. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly notes: readonly string[];
}

/** More files in a folder of hooks than anybody has. */
const MOST_IN_A_FOLDER = 500;
/** So much is read of all of them together; of the others the dates are compared. */
const MOST_OF_HOME = 8 * 1024 * 1024;
/** Not of the file in which a client keeps its history, which grows. */
const LARGEST_STATE = 16 * 1024 * 1024;
/** So many files, or bytes, are looked at before others get their turn. */
const STRIDE = 100;
const BYTES_AT_ONCE = 1024 * 1024;

/** What was read of a file, and how it was seen then. */
interface Weighing {
  readonly sighting: Sighting;
  /** SHA-256 of all of it. A client's own file is parsed only when it is another: it may have hundreds of KB. */
  readonly whole: string;
  readonly weight: string;
}

/**
 * Reads what of the home folder tells agents' clients and git what to run; a large file again only when it can have
 * changed. INVARIANT: nothing of what is in these files is kept, as keys of people stand in them: an entry has the hash of
 * what counts. Never throws.
 */
export function createHomeReader(home: string | undefined): () => Promise<HomeReading> {
  let known: ReadonlyMap<string, Weighing> = new Map();
  return async () => {
    const reading = new Reading(known);
    const read = await readHome(home, reading);
    known = reading.weighed;
    return read;
  };
}

async function readHome(home: string | undefined, reading: Reading): Promise<HomeReading> {
  if (home === undefined || home === '') return { entries: new Map(), notes: [NO_HOME] };
  const entries = new Map<string, TreeEntry>();
  const notes: string[] = [];
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { entries, notes: [`the home folder \`${home}\` is not there, so ${WITHOUT}`] };
  const isThere = folderLook(home);
  const files = HOME_FILES.filter(([path]) => isThere(dirname(path)));
  const folders = HOME_FOLDERS.filter((folder) => isThere(dirname(folder)));
  const wanted = [...files, ...folders.flatMap((folder) => filesIn(home, folder, notes))];
  const closed: string[] = [];
  for (const [path, kind] of wanted) {
    if (reading.isLong()) await nextTurn();
    const entry = entryAt(join(home, path), kind, reading);
    if (entry === null) continue;
    entries.set(`~/${path}`, entry);
    if (entry.type === 'closed') closed.push(`\`~/${path}\``);
  }
  const [first, ...others] = closed;
  const more = others.length === 0 ? '' : ` and ${others.length} more files of the home folder`;
  if (first !== undefined)
    notes.push(`${first}${more} cannot be read, or not within its limits, so only dates are compared`);
  return { entries, notes };
}

/** One reading of the home folder: how much may still be read in it, and what was read before. */
class Reading {
  readonly weighed = new Map<string, Weighing>();
  readonly #known: ReadonlyMap<string, Weighing>;
  #left = MOST_OF_HOME;
  #asked = 0;
  #bytes = 0;

  constructor(known: ReadonlyMap<string, Weighing>) {
    this.#known = known;
  }

  /** Whether it is the turn of others. */
  isLong(): boolean {
    this.#asked += 1;
    if (this.#asked % STRIDE !== 0 && this.#bytes < BYTES_AT_ONCE) return false;
    this.#bytes = 0;
    return true;
  }

  /** The weight of a file with its stats. Throws `NotRegular` for one that is too large. */
  weigh(place: string, kind: HomeKind) {
    const most = kind === 'client_state' ? LARGEST_STATE : this.#left;
    return withRegular(place, { most, links: 'follow' }, (file, stats) => {
      const size = Number(stats.size);
      if (kind !== 'client_state') this.#left -= size;
      const before = this.#known.get(place);
      const sighting = sight(stats, before?.sighting);
      const isSame = before?.sighting.settled === true && before.sighting.identity === sighting.identity;
      // What is written through a mapping of it into memory need not change its times: a small file is read each time.
      if (isSame && size > BYTES_AT_ONCE) {
        this.weighed.set(place, before);
        return { stats, weight: before.weight };
      }
      this.#bytes += size;
      const bytes = bytesOf(file, size, most);
      const whole = hash('sha256', bytes, 'hex');
      const weight = before?.whole === whole ? before.weight : weightOf(bytes, kind);
      this.weighed.set(place, { sighting, whole, weight });
      return { stats, weight };
    });
  }
}

/** Whether a folder of the home folder is there. Most people use one client, and of the others nothing is asked further. */
function folderLook(home: string): (folder: string) => boolean {
  const known = new Map<string, boolean>([['.', true]]);
  return (folder) => {
    const found = known.get(folder) ?? isAnything(join(home, folder));
    known.set(folder, found);
    return found;
  };
}

function isAnything(place: string): boolean {
  try {
    return statSync(place, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What stands there and cannot be looked at is told by the one who looks for its files.
    return true;
  }
}

const WITHOUT = 'settings of clients there are not compared';
const NO_HOME = `no home folder is known, so ${WITHOUT}`;

function filesIn(home: string, folder: string, notes: string[]): readonly (readonly [string, HomeKind])[] {
  const place = join(home, folder);
  try {
    // Most are not there, and an error that is thrown and caught takes ten times as long as being told so.
    if (statSync(place, { throwIfNoEntry: false }) === undefined) return [];
    const names = readdirSync(place).sort();
    if (names.length > MOST_IN_A_FOLDER)
      notes.push(`\`~/${folder}\` has more than ${MOST_IN_A_FOLDER} files, and the others are not compared`);
    return names.slice(0, MOST_IN_A_FOLDER).map((name) => [`${folder}/${name}`, 'bytes'] as const);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      notes.push(`\`~/${folder}\` cannot be read, so it is not compared`);
    return [];
  }
}

/** People keep such files elsewhere and link to them: where a link leads, and what is there, both count. */
function entryAt(place: string, kind: HomeKind, reading: Reading): TreeEntry | null {
  let own: Stats | undefined;
  try {
    own = statOf(place);
    if (own === undefined) return null;
    const link = own.isSymbolicLink() ? readlinkSync(place) : '';
    const is = own.isSymbolicLink() ? statSync(place, { bigint: true, throwIfNoEntry: false }) : own;
    if (is === undefined) return { ...bare(own), type: 'link', content: link };
    if (is.isDirectory()) return null;
    if (!is.isFile()) return { ...bare(is), type: 'other', content: '' };
    own = is;
    const { stats, weight } = reading.weigh(place, kind);
    // A client writes such a file by itself, so that it was written says nothing; nor, with nothing in it that counts, does
    // that it came: a client makes it when it is started for the first time.
    const isBusy = kind === 'client_state';
    if (isBusy && link === '' && weight === WEIGHTLESS) return null;
    const content = `${link}${link === '' ? '' : ' '}${weight}`;
    return { ...bare(stats), ...(isBusy ? UNDATED : {}), type: 'file', content };
  } catch (error) {
    const isTooLarge = error instanceof NotRegular && error.code === 'too_large';
    if (isTooLarge && own !== undefined) return { ...bare(own), type: 'closed', content: '' };
    return { ...UNDATED, mode: 0, device: 0n, size: 0n, links: 1n, type: 'closed', content: '' };
  }
}

/** Of a client's own file in which nothing counts. */
const WEIGHTLESS = weightOf(Buffer.from('{}'), 'client_state');

const UNDATED = { inode: 0n, mtime: 0n, ctime: 0n } as const;

type Stats = NonNullable<ReturnType<typeof statOf>>;

function statOf(place: string) {
  return lstatSync(place, { bigint: true, throwIfNoEntry: false });
}

function bare(stats: Stats): Omit<TreeEntry, 'type' | 'content'> {
  return {
    mode: Number(stats.mode & 0o7777n),
    device: stats.dev,
    inode: stats.ino,
    size: stats.size,
    mtime: stats.mtimeNs,
    ctime: stats.ctimeNs,
    links: 1n,
  };
}
