import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PhasegateError } from '@phasegate/core';
import type { FenceFiles } from '@phasegate/core/ports';
import type { Contents } from './contents.ts';
import type { Manifest } from './manifest.ts';

/** Makes paths what they were. All or none: what cannot be restored is found before anything is written. */
export function restorePaths({
  root,
  contents,
  paths,
  before,
}: {
  readonly root: string;
  readonly contents: Contents;
  readonly paths: readonly string[];
  readonly before: Manifest;
}): FenceFiles {
  // What stands in the way of one and is restored itself is gone by then.
  const wanted = new Set(paths);
  const planned = paths.map((path) => {
    demandPlain(root, path, wanted);
    const was = before.entries.get(path);
    if (was === undefined) return { path, what: 'removed', act: () => remove(root, path) };
    if (was.type === 'link') {
      const act = () => {
        remove(root, path);
        mkdirSync(dirname(join(root, path)), { recursive: true });
        symlinkSync(was.content, join(root, path));
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
    const act = () => {
      remove(root, path);
      const place = join(root, path);
      mkdirSync(dirname(place), { recursive: true });
      // Never into a file that is there: it may have a second name.
      writeFileSync(place, bytes, { flag: 'wx' });
      chmodSync(place, was.mode);
    };
    return { path, what: 'restored', act };
  });
  for (const { path, act } of planned) {
    demandPlain(root, path);
    act();
  }
  return { done: planned.map(({ path, what }) => ({ path, what })) };
}

/** Moves paths to a folder outside of the workspace. */
export function quarantinePaths({
  root,
  paths,
  to,
}: {
  readonly root: string;
  readonly paths: readonly string[];
  readonly to: string;
}): FenceFiles {
  for (const path of paths) {
    demandPlain(root, path);
    if (lstatSync(join(root, path), { throwIfNoEntry: false }) === undefined)
      throw new PhasegateError('fence_failed', `\`${path}\` is not there, so it cannot be moved aside`, {
        hint: 'restore it, or accept that it is gone',
      });
  }
  const done = paths.map((path) => {
    const place = join(to, path);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    try {
      renameSync(join(root, path), place);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      copyFileSync(join(root, path), place);
      rmSync(join(root, path));
    }
    return { path, what: `moved to ${place}` };
  });
  return { done };
}

function remove(root: string, path: string): void {
  rmSync(join(root, path), { recursive: true, force: true });
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
