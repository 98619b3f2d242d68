import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { compileIgnoreRules } from './ignoreRules.ts';
import { repositoryOf, rulesAround, rulesIn } from './repository.ts';

/** Whether a folder at the top of a workspace is there and is measured: no ignore rule leaves it out. */
export function measuresBelow(
  root: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  const rules = compileIgnoreRules([...rulesAround(root, env, repositoryOf(root)), rulesIn(root, '')]);
  return !rules.ignores(folder, true);
}
