import { type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { compileGlob, GUARDED_PATHS, isDefinition } from '@phasegate/core/model';
import type { SandboxScope } from '@phasegate/core/ports';
import { scopeRoots } from './scopeRoots.ts';

/** Where definitions are found in a workspace, and are to be covered. Absolute; nothing behind links is among them. */
export interface DefinitionPlaces {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  /** Whether there are more files than are covered. */
  readonly more: boolean;
}

/**
 * Looks where the catalog looks: in the root, in folders for workflows, and where the globs of a project lead. What the
 * scope may write is left out: its phase is there to write it.
 */
export function definitionPlaces(
  { workspace, definitions = [], mayWrite }: SandboxScope,
  globs: readonly string[],
): DefinitionPlaces {
  const matchers = globs.filter((glob) => glob !== '**').map(compileGlob);
  const isNamed = (path: string) => isDefinition(path) || matchers.some((matches) => matches(path));
  const { whole, partly } = scopeRoots(globs);
  const found = new Set<string>(definitions);
  for (const entry of entriesOf(workspace)) if (entry.isFile() && isNamed(entry.name)) found.add(entry.name);
  const walk = (folder: string, depth: number) => {
    for (const entry of entriesOf(join(workspace, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile() && isNamed(path)) found.add(path);
      if (entry.isDirectory() && depth > 0 && !SKIPPED.has(entry.name)) walk(path, depth - 1);
    }
  };
  for (const folder of [...whole, ...partly]) walk(folder, DEEPEST);
  const folders = FOLDERS.filter((folder) => kindOf(join(workspace, folder)) === 'folder');
  const files = [...found].filter(
    (path) =>
      !mayWrite(path) &&
      !folders.some((folder) => path.startsWith(`${folder}/`)) &&
      kindOf(join(workspace, path)) === 'file',
  );
  return {
    folders: folders.map((path) => join(workspace, path)),
    files: files.slice(0, MOST_DEFINITIONS).map((path) => join(workspace, path)),
    more: files.length > MOST_DEFINITIONS,
  };
}

/** So many files are covered one by one. */
export const MOST_DEFINITIONS = 256;
/** Those in which everything is a definition. */
const FOLDERS = GUARDED_PATHS.filter((glob) => glob.endsWith('/**') && isDefinition(glob)).map((glob) =>
  glob.slice(0, -'/**'.length),
);
/** As the catalog does. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist']);
const DEEPEST = 6;

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Nothing that is reached through a link: a mount there would stand elsewhere. */
function kindOf(place: string): 'file' | 'folder' | null {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats === undefined || realpathSync(place) !== place) return null;
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : null;
}
