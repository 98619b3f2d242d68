import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Every test of a repository, by its path in it. */
export function testFiles(root: string): readonly string[] {
  return ['packages', 'test', 'examples']
    .flatMap((folder) => testsUnder(join(root, folder)))
    .map((path) => relative(root, path))
    .sort();
}

function testsUnder(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testsUnder(path);
    return entry.isFile() && entry.name.endsWith('.test.ts') ? [path] : [];
  });
}
