import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { PhasegateError } from '@phasegate/core';

/**
 * Where the state of a project lives: outside the workspace, one folder per project, shared by all git worktrees
 * of one repository. Nothing is made here.
 */
export function stateDirFor(root: string, env: Readonly<Record<string, string | undefined>>): string {
  const here = realpathSync(root);
  const main = mainWorktree(here);
  const digest = hash('sha256', main, 'hex').slice(0, 16);
  const name = basename(main).replace(/[^\w.-]+/g, '_') || 'root';
  const stateDir = join(stateHome(env), 'phasegate', `${name}-${digest}`);
  const real = realpathOfExisting(stateDir);
  const inside = [here, main].find((folder) => isBeneath(real, folder));
  if (inside !== undefined) {
    throw new PhasegateError(
      'config_invalid',
      `the state directory \`${stateDir}\` would be inside the workspace \`${inside}\`, where an agent can write`,
      { hint: 'set XDG_STATE_HOME to a folder outside, or work in a project folder of its own' },
    );
  }
  return stateDir;
}

function stateHome({ XDG_STATE_HOME, HOME }: Readonly<Record<string, string | undefined>>): string {
  // The XDG specification: a path that is not absolute is to be ignored.
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return XDG_STATE_HOME;
  // Asked for here because the module is loaded for nothing else, and almost never.
  return join(
    HOME !== undefined && isAbsolute(HOME) ? HOME : process.getBuiltinModule('node:os').homedir(),
    '.local',
    'state',
  );
}

/** The same folder in the main worktree, where this one is in a linked worktree; git itself is never run. */
function mainWorktree(folder: string): string {
  const top = gitTop(folder);
  if (top === undefined) return folder;
  const link = /^gitdir: (.+)$/m.exec(readIfThere(join(top, '.git')) ?? '')?.[1];
  if (link === undefined) return folder;
  const gitDir = resolve(top, link.trim());
  const common = readIfThere(join(gitDir, 'commondir'))?.trim();
  if (common === undefined) return folder;
  // Git keeps the way back too. Without it anyone who can write `.git` could point at another project's state.
  const back = readIfThere(join(gitDir, 'gitdir'))?.trim();
  if (back === undefined || realpathOfExisting(resolve(gitDir, back)) !== join(top, '.git')) return folder;
  const commonDir = realpathOfExisting(resolve(gitDir, common));
  const main = basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
  return join(main, relative(top, folder));
}

/** The nearest folder upward whose `.git` is a file, if there is no `.git` folder before it. */
function gitTop(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const git = statSync(join(folder, '.git'), { throwIfNoEntry: false });
    if (git !== undefined) return git.isFile() ? folder : undefined;
    if (folder === dirname(folder)) return undefined;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not there or not ours to read: then this is no worktree, and the project keeps its own state.
    return undefined;
  }
}

function realpathOfExisting(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realpathOfExisting(parent), basename(path));
  }
}

function isBeneath(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
