import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { NotRegular, readRegular, readRegularIfAny } from '../../files/readRegular.ts';
import { IndexUnreadable, pathsInIndex } from './gitIndex.ts';
import type { RuleFile } from './ignoreRules.ts';

/** The ignore rules of one folder of the workspace. A link in their place counts for nothing, as in git. */
export function rulesIn(root: string, folder: string): RuleFile {
  return { base: folder, lines: linesOf(join(root, folder, '.gitignore')) };
}

/**
 * Ignore rules that stand outside of the workspace's folders: those of the user, of the repository, and of folders above
 * in a repository that the workspace is part of. The weakest come first.
 */
export function rulesAround(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  /** From `repositoryOf`. */
  top: string | null,
): readonly RuleFile[] {
  const files: RuleFile[] = [];
  const add = (lines: readonly string[], above?: string) => {
    if (lines.length > 0) files.push({ base: '', lines, ...(above === undefined ? {} : { above }) });
  };
  add(linesOf(excludesFile(env)));
  if (top === null) return files;
  const way = relative(top, root);
  const above = way === '' ? undefined : `${way.split('\\').join('/')}/`;
  const git = gitFolder(top);
  if (git !== null) add(linesOf(join(commonFolder(git), 'info', 'exclude')), above);
  for (let folder = top; folder !== root; ) {
    const left = relative(folder, root).split('/');
    add(linesOf(join(folder, '.gitignore')), `${left.join('/')}/`);
    folder = join(folder, left[0] as string);
  }
  return files;
}

/** The files that git has in its index, relative to the workspace, and what could not be read. */
export function trackedIn(
  root: string,
  /** From `repositoryOf`. */
  top: string | null,
): {
  readonly paths: readonly string[];
  readonly notes: readonly string[];
} {
  const git = top === null ? null : gitFolder(top);
  if (top === null || git === null) return { paths: [], notes: [] };
  const file = join(git, 'index');
  try {
    const way = relative(top, root);
    const prefix = way === '' ? '' : `${way}/`;
    const paths = pathsInIndex(readRegular(file, { most: LARGEST_INDEX, links: 'follow' }));
    return {
      paths: paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length)),
      notes: [],
    };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOENT') return { paths: [], notes: [] };
    const reason = error instanceof IndexUnreadable || error instanceof NotRegular ? error.message : code;
    const note = `git's index cannot be read (${reason}), so files that it has and that an ignore rule names are not compared`;
    return { paths: [], notes: [note] };
  }
}

/** The folder of the repository that a folder is part of, or null. */
export function repositoryOf(root: string): string | null {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

/** A worktree and a submodule have a file that names it. */
function gitFolder(top: string): string | null {
  const place = join(top, '.git');
  try {
    if (statSync(place).isDirectory()) return place;
    const named = /^gitdir: (.+?)\s*$/s.exec(readRegular(place, NAMING).toString('utf8'));
    return named === null ? null : resolve(top, named[1] as string);
  } catch {
    return null;
  }
}

function commonFolder(git: string): string {
  try {
    const named = readRegular(join(git, 'commondir'), NAMING).toString('utf8').trim();
    return isAbsolute(named) ? named : join(git, named);
  } catch {
    return git;
  }
}

function excludesFile(env: Readonly<Record<string, string | undefined>>): string {
  const config = env.XDG_CONFIG_HOME || (env.HOME === undefined ? '' : join(env.HOME, '.config'));
  return config === '' ? '' : join(config, 'git', 'ignore');
}

/** A million files with long names; git itself has no limit. */
const LARGEST_INDEX = 256 * 1024 * 1024;
/** Files that say where another folder is. */
const NAMING = { most: 64 * 1024, links: 'follow' } as const;
/** A file of rules is read up to this size; git itself reads larger ones, and nobody writes them. */
const LARGEST_RULES = 512 * 1024;

function linesOf(file: string): readonly string[] {
  if (file === '') return [];
  const text = readRegularIfAny(file, { most: LARGEST_RULES, links: 'refuse' })?.toString('utf8');
  return text?.replace(/^\uFEFF/, '').split('\n') ?? [];
}
