import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HOME_FILES, HOME_FOLDERS, type HomeKind, weightOf } from './homeSettings.ts';
import type { TreeEntry } from './manifest.ts';

/** The guard's files of the home folder as they are now, and what could not be looked at. */
export interface HomeReading {
  /** By paths that begin with `~/`. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly notes: readonly string[];
}

/** More files in a folder of hooks than anybody has, and larger than any settings are. */
const MOST_IN_A_FOLDER = 500;
const LARGEST = 32 * 1024 * 1024;

/**
 * Reads what of the home folder tells agents' clients and git what to run. INVARIANT: nothing of what is in these files is
 * kept, as keys of people stand in them: an entry has the hash of what counts. Never throws.
 */
export function readHome(home: string | undefined): HomeReading {
  if (home === undefined || home === '') return { entries: new Map(), notes: [NO_HOME] };
  const entries = new Map<string, TreeEntry>();
  const notes: string[] = [];
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { entries, notes: [`the home folder \`${home}\` is not there, so ${WITHOUT}`] };
  const wanted = [...HOME_FILES, ...HOME_FOLDERS.flatMap((folder) => filesIn(home, folder, notes))];
  for (const [path, kind] of wanted) {
    const entry = entryAt(join(home, path), kind);
    if (entry === null) continue;
    entries.set(`~/${path}`, entry);
    if (entry.type === 'closed') notes.push(`\`~/${path}\` cannot be read, so only its dates are compared`);
  }
  return { entries, notes };
}

const WITHOUT = 'settings of clients there are not compared';
const NO_HOME = `no home folder is known, so ${WITHOUT}`;

function filesIn(home: string, folder: string, notes: string[]): readonly (readonly [string, HomeKind])[] {
  try {
    const names = readdirSync(join(home, folder)).sort();
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
function entryAt(place: string, kind: HomeKind): TreeEntry | null {
  try {
    const own = lstatSync(place, { bigint: true, throwIfNoEntry: false });
    if (own === undefined) return null;
    const link = own.isSymbolicLink() ? readlinkSync(place) : '';
    const is = own.isSymbolicLink() ? statSync(place, { bigint: true, throwIfNoEntry: false }) : own;
    if (is === undefined) return { ...bare(own), type: 'link', content: link };
    if (is.isDirectory()) return null;
    if (!is.isFile()) return { ...bare(is), type: 'other', content: '' };
    if (is.size > BigInt(LARGEST)) return { ...bare(is), type: 'closed', content: '' };
    const weight = weightOf(readFileSync(place), kind);
    // A client writes such a file by itself, so that it was written says nothing; nor, with nothing in it that counts, does
    // that it came: a client makes it when it is started for the first time.
    const isBusy = kind === 'client_state';
    if (isBusy && link === '' && weight === WEIGHTLESS) return null;
    const content = `${link}${link === '' ? '' : ' '}${weight}`;
    return { ...bare(is), ...(isBusy ? UNDATED : {}), type: 'file', content };
  } catch {
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
