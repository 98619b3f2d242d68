import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Mutation } from './mutations.ts';

const CORE = fileURLToPath(new URL('../../packages/core/src', import.meta.url));

/** A copy of the engine in a folder. */
export function copyOfCore(folder: string, name: string): URL {
  const copy = join(folder, name);
  cpSync(CORE, copy, { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  return pathToFileURL(`${copy}/`);
}

/** How often what a mutation changes stands in the engine. A list that no longer fits it proves nothing. */
export function timesIn({ file, find }: Pick<Mutation, 'file' | 'find'>): number {
  return readFileSync(join(CORE, 'engine', file), 'utf8').split(find).length - 1;
}

/** A copy of the engine with a mistake. */
export function mutantOf(folder: string, { name, file, find, replace }: Mutation): URL {
  const copy = copyOfCore(folder, name.replaceAll(' ', '-'));
  const path = new URL(`engine/${file}`, copy);
  const source = readFileSync(path, 'utf8');
  const times = timesIn({ file, find });
  if (times !== 1) throw new Error(`\`${find}\` stands ${times} times in ${file}, not once`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  return copy;
}
