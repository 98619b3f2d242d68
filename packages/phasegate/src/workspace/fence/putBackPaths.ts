import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { FenceFiles } from '@phasegate/core/ports';
import { openFolderBeneath } from '../openFolderBeneath.ts';
import { PathRefused } from '../pathRefused.ts';
import type { Contents } from './contents.ts';
import type { Manifest } from './manifest.ts';

/** Makes paths what they were. All or none: what cannot be restored is found before anything is written. */
export async function restorePaths({
  root,
  contents,
  paths,
  before,
}: {
  readonly root: string;
  readonly contents: Contents;
  readonly paths: readonly string[];
  readonly before: Manifest;
}): Promise<FenceFiles> {
  // What stands in the way of one and is restored itself is gone by then.
  const wanted = new Set(paths);
  const planned = paths.map((path) => {
    demandPlain(root, path, wanted);
    const was = before.entries.get(path);
    if (was === undefined) return { path, what: 'removed', act: remove };
    if (was.type === 'link') {
      const act = (place: string) => {
        remove(place);
        symlinkSync(was.content, place);
      };
      return { path, what: 'restored', act };
    }
    const bytes = was.type === 'file' ? contents.read(was.content) : null;
    if (bytes === null) {
      throw new PhasegateError(
        'fence_failed',
        `the content of \`${path}\` was not kept, so it cannot be restored`,
        {
          hint: 'put it back from your repository, or move it aside with `quarantine`',
        },
      );
    }
    const act = (place: string) => {
      remove(place);
      // Never into a file that is there: it may have a second name.
      const file = openSync(place, 'wx');
      try {
        writeFileSync(file, bytes);
        fchmodSync(file, was.mode);
      } finally {
        closeSync(file);
      }
    };
    return { path, what: 'restored', act };
  });
  for (const { path, what, act } of planned) {
    demandPlain(root, path);
    // What is in a folder that is gone is gone too.
    if (what === 'removed' && !existsSync(join(root, dirname(path)))) continue;
    await inFolder(root, path, { make: what !== 'removed', act });
  }
  return { done: planned.map(({ path, what }) => ({ path, what })) };
}

/** Moves paths to a folder outside of the workspace. */
export async function quarantinePaths({
  root,
  paths,
  to,
}: {
  readonly root: string;
  readonly paths: readonly string[];
  readonly to: string;
}): Promise<FenceFiles> {
  for (const path of paths) {
    demandPlain(root, path);
    if (lstatSync(join(root, path), { throwIfNoEntry: false }) === undefined)
      throw new PhasegateError('fence_failed', `\`${path}\` is not there, so it cannot be moved aside`, {
        hint: 'restore it, or accept that it is gone',
      });
  }
  const done: { path: string; what: string }[] = [];
  for (const path of paths) {
    const place = join(to, path);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    const act = (from: string) => {
      try {
        renameSync(from, place);
        return `moved to ${place}`;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
        return moveFar(from, place);
      }
    };
    done.push({ path, what: await inFolder(root, path, { make: false, act }) });
  }
  return { done };
}

/** To another file system: the thing itself, and not what a link leads to; nobody is waited for at a pipe. */
function moveFar(from: string, place: string): string {
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), place);
  else if (stats.isFile()) copyPlain(from, place);
  rmSync(from);
  const isKept = stats.isSymbolicLink() || stats.isFile();
  return isKept ? `moved to ${place}` : 'removed: it is a pipe, a socket or a device, which holds nothing';
}

function copyPlain(from: string, place: string): void {
  const file = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile())
      throw new PhasegateError('fence_failed', `\`${basename(place)}\` became something else meanwhile`);
    const opened = `/proc/self/fd/${file}`;
    copyFileSync(existsSync(opened) ? opened : from, place);
  } finally {
    closeSync(file);
  }
}

interface Acting<T> {
  /** Whether folders that are missing are made. */
  readonly make: boolean;
  act(place: string): T;
}

/** Acts on a name in the very folder it is in: one on the way that is swapped for a link leads nowhere. */
async function inFolder<T>(root: string, path: string, { make, act }: Acting<T>): Promise<T> {
  const around = dirname(path);
  try {
    const folder = await openFolderBeneath(root, around === '.' ? '' : around, { make });
    try {
      return act(folder.at(basename(path)));
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!(error instanceof PathRefused)) throw error;
    throw new PhasegateError('fence_failed', error.message, { hint: 'look at the workspace and try again' });
  }
}

function remove(place: string): void {
  rmSync(place, { recursive: true, force: true });
}

/** INVARIANT: nothing is written or removed through a link, wherever it stands on the way. */
function demandPlain(root: string, path: string, gone: ReadonlySet<string> = new Set()): void {
  const names = path.split('/');
  if (path.startsWith('/') || names.some((name) => name === '' || name === '..' || name === '.'))
    throw new PhasegateError('fence_failed', `\`${path}\` is not a path inside the workspace`);
  for (let count = 1; count < names.length; count += 1) {
    const folder = join(root, ...names.slice(0, count));
    if (gone.has(names.slice(0, count).join('/'))) return;
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
    if (!lstatSync(folder).isDirectory())
      throw new PhasegateError(
        'fence_failed',
        `\`${names.slice(0, count).join('/')}\` is not a folder, and \`${path}\` is beyond it`,
        {
          hint: 'restore or quarantine that one first',
        },
      );
  }
}
