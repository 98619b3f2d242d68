import { spawn } from 'node:child_process';
import { fstatSync, lstatSync, readdirSync } from 'node:fs';
import type { ScopeMounts } from './scopeMounts.ts';

/**
 * Paths of files below folders that may be written, and that have a name elsewhere too. Names that are all where `mayWrite`
 * lets them be lead nowhere else: build tools link their own results. Null where nobody could say.
 */
export async function severalLinks(
  writable: ScopeMounts['writable'],
  mayWrite: (path: string) => boolean,
): Promise<readonly string[] | null> {
  if (writable.length === 0) return [];
  const names = lookedThrough(writable) ?? (await found(writable));
  return names === null ? null : namedElsewhere(names, mayWrite);
}

/** One name of a file that has several. */
interface Name {
  readonly path: string;
  /** Device and number of the file. */
  readonly file: string;
  readonly links: number;
}

function namedElsewhere(names: readonly Name[], mayWrite: (path: string) => boolean): readonly string[] {
  // Folders of a scope may lie in each other, and a name is one name however often it was seen.
  const inScope = new Map<string, Set<string>>();
  for (const { path, file } of names)
    if (mayWrite(path)) inScope.set(file, (inScope.get(file) ?? new Set()).add(path));
  return names.filter(({ file, links }) => (inScope.get(file)?.size ?? 0) < links).map(({ path }) => path);
}

/** So many entries are looked at here, which is faster than starting a program for it. */
const FEW = 2000;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * Looks itself; null where there is too much to look at. It goes by the paths of folders, which takes half the time it
 * takes through their descriptors. They are those that will be mounted if they stand there before and after: to swap one
 * in between takes somebody who may write around the scope.
 */
function lookedThrough(writable: ScopeMounts['writable']): readonly Name[] | null {
  const linked: Name[] = [];
  let left = FEW;
  const walk = (folder: string, path: string): boolean => {
    for (const entry of entriesOf(folder)) {
      left--;
      if (left < 0) return false;
      const [place, shown] = [`${folder}/${entry.name}`, path === '' ? entry.name : `${path}/${entry.name}`];
      const stats = entry.isFile() ? lstatSync(place, { throwIfNoEntry: false, bigint: true }) : undefined;
      if (stats !== undefined && stats.nlink > 1n)
        linked.push({ path: shown, file: `${stats.dev}:${stats.ino}`, links: Number(stats.nlink) });
      if (entry.isDirectory() && !SKIPPED.has(entry.name) && !walk(place, shown)) return false;
    }
    return true;
  };
  const stand = () => writable.every(standsThere);
  const isAll = stand() && writable.every(({ place, path }) => walk(place, path)) && stand();
  return isAll ? linked : null;
}

function standsThere({ descriptor, place }: ScopeMounts['writable'][number]): boolean {
  const [held, there] = [fstatSync(descriptor), lstatSync(place, { throwIfNoEntry: false })];
  return there !== undefined && held.ino === there.ino && held.dev === there.dev;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Nobody can write in a folder that cannot be read, or that is gone.
    return [];
  }
}

/** Has `find` look, beside all else that goes on here. */
async function found(writable: ScopeMounts['writable']): Promise<readonly Name[] | null> {
  const roots = writable.map((_, index) => `/proc/self/fd/${index + FIRST}/`);
  const child = spawn('/usr/bin/find', ['-P', ...roots, '-xdev', ...QUESTION], {
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore', ...writable.map(({ descriptor }) => descriptor)],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > MOST_BYTES) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  const ended = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    // A folder that nobody may read makes it end with 1, and nobody can write there either.
    child.once('close', (code) => resolve(code === 0 || code === 1));
  });
  if (!ended) return null;
  return Buffer.concat(chunks)
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, file = '', links = '', place = '', path = ''] = LINE.exec(line) ?? [];
      const root = writable[Number(place) - FIRST];
      if (root === undefined) return [];
      return [{ path: root.path === '' ? path : `${root.path}/${path}`, file, links: Number(links) }];
    });
}

const LINE = /^(\d+:\d+)\t(\d+)\t\/proc\/self\/fd\/(\d+)\/\t(.*)$/s;
const FIRST = 3;
const TIMEOUT_MS = 20_000;
const MOST_BYTES = 1024 * 1024;
/** Package managers link the packages they install, and git its objects; neither is where work is done. */
const QUESTION = [
  ...['-type', 'd', '(', '-name', 'node_modules', '-o', '-name', '.git', ')', '-prune'],
  ...['-o', '-type', 'f', '-links', '+1', '-printf', '%D:%i\\t%n\\t%H\\t%P\\0'],
];
