import { lstatSync } from 'node:fs';
import { compileGlob, segmentsOfGlob } from '@phasegate/core/model';

/** Where workflows may lie: a folder, with those below it. */
export interface Place {
  readonly folder: string;
  /** How many folders deep it is looked into. */
  readonly depth: number;
  readonly wanted: (path: string) => boolean;
  /** Whether a file that is wanted may lie below this folder. */
  readonly leads: (folder: string) => boolean;
  /** Whether a glob of the config names it. */
  readonly byGlob: boolean;
}

/** Names that are not looked at in any place. */
export const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist']);

/** All places of a project: the root, whose files alone count, the folders of workflows, and where the globs say. */
export function placesOf(globs: readonly string[]): readonly Place[] {
  return [{ ...wholeFolder(''), depth: 0 }, ...FOLDERS.map(wholeFolder), ...placesOfGlobs(globs)];
}

/** The places of a folder that somebody named: itself, and folders of workflows that lie below it. */
export function placesBelow(folder: string): readonly Place[] {
  const below = FOLDERS.filter((one) => folder === '' || one.startsWith(`${folder}/`));
  return [folder, ...below].map(wholeFolder);
}

/** What is asked of one path. */
export interface InPlace {
  readonly root: string;
  readonly places: readonly Place[];
  readonly isInside: (folder: string) => boolean;
}

/** Whether there is a file that a search through all places would find, whatever lies beside it. */
export function liesInPlace(path: string, { root, places, isInside }: InPlace): boolean {
  return places.some(({ folder, depth, wanted, leads }) => {
    if (folder !== '' && !path.startsWith(`${folder}/`)) return false;
    const names = path.slice(folder === '' ? 0 : folder.length + 1).split('/');
    const isPlain = names.every((name) => !NOWHERE.has(name) && !SKIPPED.has(name) && !name.includes('\0'));
    if (!isPlain || names.length - 1 > depth || !wanted(path)) return false;
    const ways = names.map((_, index) => joined(folder, names.slice(0, index + 1).join('/')));
    const above = ways.slice(0, -1);
    if (!above.every(leads) || (folder !== '' && !isInside(folder))) return false;
    // A link is neither: it may lead out of the project.
    return (
      above.every((way) => kindOf(`${root}/${way}`) === 'folder') && kindOf(`${root}/${path}`) === 'file'
    );
  });
}

/** The path of something in a folder. */
export function joined(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

const FOLDERS = ['workflows', '.phasegate/workflows', '.praxis-os/workflows'];
const DEEPEST = 6;
const NOWHERE: ReadonlySet<string> = new Set(['', '.', '..']);

/** Globs that begin in one folder are one place: its folders are walked through once. */
function placesOfGlobs(globs: readonly string[]): readonly Place[] {
  const byFolder = new Map<string, string[]>();
  for (const given of globs) {
    const glob = given.startsWith('./') ? given.slice(2) : given;
    const folder = literalPrefix(glob);
    byFolder.set(folder, [...(byFolder.get(folder) ?? []), glob]);
  }
  return [...byFolder].map(([folder, together]) => ({
    folder,
    depth: DEEPEST,
    wanted: anyOf(together),
    leads: anyOf(together.flatMap(waysTo)),
    byGlob: true,
  }));
}

/** The folder a glob starts in, so that a search need not walk the whole project. */
function literalPrefix(glob: string): string {
  const parts = glob.split('/');
  const wild = parts.findIndex((part) => /[*?{[]/.test(part));
  return parts.slice(0, wild === -1 ? parts.length - 1 : wild).join('/');
}

/** Globs of the folders that are on the way to what a glob matches. */
function waysTo(glob: string): readonly string[] {
  return segmentsOfGlob(glob).flatMap((segments) => {
    const any = segments.indexOf('**');
    const plain = segments.slice(0, any === -1 ? -1 : any);
    const ways = plain.map((_, index) => plain.slice(0, index + 1).join('/'));
    return any === -1 ? ways : [...ways, [...plain, '**'].join('/')];
  });
}

function anyOf(globs: readonly string[]): (path: string) => boolean {
  const compiled = [...new Set(globs)].map((glob) => compileGlob(glob));
  return (path) => compiled.some((matches) => matches(path));
}

function wholeFolder(folder: string): Place {
  return { folder, depth: DEEPEST, wanted: always, leads: always, byGlob: false };
}

function always(): boolean {
  return true;
}

function kindOf(path: string): 'file' | 'folder' | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) return 'file';
    return stats?.isDirectory() ? 'folder' : null;
  } catch {
    return null;
  }
}
