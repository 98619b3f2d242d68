import { realpathSync } from 'node:fs';
import { targetWithin } from '@phasegate/core/model';

/** A target as it is called from the root of the workspace, also where it is named by the place behind a link. */
export function projectTarget(workspace: string, target: string): string {
  const within = targetWithin(workspace, target);
  return within === target ? targetWithin(placeOf(workspace), target) : within;
}

/** Beneath which folders a target may be that `projectTarget` gives another name. */
export function waysInto(workspace: string): readonly string[] {
  return ['..', ...new Set([workspace, placeOf(workspace)])];
}

/** A workspace that is not on a disk is where it says it is. */
function placeOf(workspace: string): string {
  try {
    return realpathSync(workspace);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return workspace;
    throw error;
  }
}
