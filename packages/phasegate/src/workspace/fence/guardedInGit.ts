import { join } from 'node:path';
import { listOf } from './listOf.ts';

/** Of git's own folder: what makes git run programs, or says where it keeps its things. */
export function guardedInGit(root: string): readonly string[] {
  const found: string[] = ['.git/config', '.git/config.worktree', '.git/commondir'];
  const walk = (folder: string, counts: (name: string) => boolean, depth: number): void => {
    for (const entry of listOf(join(root, folder)) ?? []) {
      const path = `${folder}/${entry.name}`;
      if (!entry.isDirectory()) {
        if (counts(entry.name)) found.push(path);
      } else if (depth > 0 && !GITS_OWN.has(entry.name)) {
        walk(path, INNER_FOLDERS.get(entry.name) ?? counts, depth - 1);
      }
    }
  };
  walk('.git/hooks', () => true, 3);
  walk('.git/info', isInfo, 1);
  walk('.git/modules', (name) => name.startsWith('config') || name === 'commondir', 8);
  walk('.git/worktrees', (name) => WORKTREE_FILES.has(name), 1);
  return found;
}

/** What changes with every commit. */
const GITS_OWN: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'lfs']);
/** Not the list of refs for who fetches without git, which git writes anew whenever it packs. */
const isInfo = (name: string) => !/^refs(?:_[A-Za-z0-9]{6})?$/.test(name);
/** Folders of a repository further down, with what counts in them. */
const INNER_FOLDERS: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ['hooks', () => true],
  ['info', isInfo],
]);
const WORKTREE_FILES: ReadonlySet<string> = new Set(['gitdir', 'commondir', 'config.worktree']);
