import { isAbsolute, resolve } from 'node:path';
import { isBeneath } from './stateDirFor.ts';
import { realpathOfExisting } from './worktrees.ts';

/** Whether a place is named from `/` on and lies outside of a project, both as it is written and where links lead. */
export function isOutside(root: string, named: string): boolean {
  if (!isAbsolute(named)) return false;
  const [written, real] = [resolve(named), realpathOfExisting(named)];
  return !isBeneath(written, resolve(root)) && !isBeneath(real, realpathOfExisting(root));
}
