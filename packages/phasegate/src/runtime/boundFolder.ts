import { type Command, PhasegateError, type Run } from '@phasegate/core';
import { isBegun } from '@phasegate/core/engine';
import { shellWord } from '@phasegate/core/model';
import type { Asked } from './mannerOf.ts';
import type { RuntimeParts } from './runtimeParts.ts';

/** Where a runtime works. */
export type Here = Pick<RuntimeParts, 'folder' | 'madeFor'>;

/**
 * Whether a run belongs to another of the folders that share one state. INVARIANT: its checks, its tools and its fence
 * look at the folder it was begun in, and no agent chooses another in which they happen to pass.
 */
export function isElsewhere({ folder, madeFor }: Here, run: Run): boolean {
  if (run.folder === folder) return false;
  // One that nobody has begun is bound where it is; a folder that was made for one run is for no other.
  return run.folder !== undefined || isBegun(run) || madeFor !== undefined;
}

/** Refuses a command for which another folder than the run's would be looked at, or worked in. */
export function demandInFolder(here: Here, run: Run, asked: Asked): void {
  if ('make' in asked || IN_ITS_FOLDER.has(asked.kind)) demandHere(here, run);
}

const IN_ITS_FOLDER: ReadonlySet<Command['kind']> = new Set<Command['kind']>([
  'claim',
  'complete',
  'report_failure',
  'decide',
  'override',
  'expire',
]);

/** Refuses what would be looked at or done in another folder than the run's. */
export function demandHere(here: Here, run: Run): void {
  if (!isElsewhere(here, run)) return;
  const { id, folder } = run;
  if (folder !== undefined)
    throw new PhasegateError('not_permitted', `run \`${id}\` works in \`${folder}\`, and only there`, {
      hint: `go there, or name it: \`phasegate --project ${shellWord(folder)} COMMAND ${id}\``,
    });
  const message =
    here.madeFor === undefined
      ? `run \`${id}\` works in the project's own folder, and this is a worktree of it`
      : `this folder was made for run \`${here.madeFor}\` and is for no other`;
  throw new PhasegateError('not_permitted', message, { hint: 'go to the main folder of the project' });
}
