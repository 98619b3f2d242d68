import { statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { existingPath } from '../files/existingPath.ts';
import { readRegularIfAny } from '../files/readRegular.ts';

/**
 * The same folder in the main worktree, where `.git` says that this one is in a linked worktree; else null. Git itself
 * is never run. A claim and no more: anyone who can write `.git` can make it, and all that it points at.
 */
export function claimedMain(root: string): string | null {
  const folder = realpathOfExisting(resolve(root));
  const top = gitTop(folder);
  if (top === undefined) return null;
  const link = /^gitdir: (.+)$/m.exec(readIfThere(join(top, '.git')) ?? '')?.[1];
  if (link === undefined) return null;
  const gitDir = realpathOfExisting(resolve(top, link.trim()));
  const common = readIfThere(join(gitDir, 'commondir'))?.trim();
  if (common === undefined) return null;
  const commonDir = realpathOfExisting(resolve(gitDir, common));
  const main = join(basename(commonDir) === '.git' ? dirname(commonDir) : commonDir, relative(top, folder));
  return main === folder ? null : main;
}

/** The nearest folder upward whose `.git` is a file, if there is no `.git` folder before it. */
function gitTop(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const git = statSync(join(folder, '.git'), { throwIfNoEntry: false });
    if (git !== undefined) return git.isFile() ? folder : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Not there or not ours to read: then this is not a worktree, and the project keeps its own state. */
function readIfThere(file: string): string | undefined {
  return readRegularIfAny(file, { most: LARGEST_NAMING, links: 'follow' })?.toString('utf8');
}

/** Of a file that says where another folder is. */
const LARGEST_NAMING = 64 * 1024;

/** The real path of what is there of a path, with the rest of it as it is written. */
export function realpathOfExisting(path: string): string {
  return existingPath(path).real;
}
