import { PhasegateError } from '@phasegate/core';
import type { ExitCode, Invocation, OptionSpecs } from './command.ts';
import { usageError } from './usage.ts';

/** `--worktree`, of the commands that start a run. */
export const WORKTREE_OPTION: OptionSpecs = {
  worktree: { type: 'flag', summary: 'work in a git worktree of its own, on the branch phasegate/RUN' },
};

/** What the option does, for the help. */
export const WORKTREE_DETAILS =
  'With --worktree the run works in a git worktree of its own, ../PROJECT.worktrees/RUN, on the branch phasegate/RUN, and\n' +
  'waits for no other run. It begins at the last commit, and belongs to that folder: `phasegate worktree` lists and\n' +
  'removes them.';

/** What came of starting a run. */
export interface Begun {
  readonly code: ExitCode;
  /** Null where none was made. */
  readonly run: string | null;
}

/** Has a run started in a git worktree that is made for it; where no run comes of it, the worktree is gone again. */
export async function inWorktree(
  invocation: Invocation,
  start: (there: Invocation) => Promise<Begun>,
): Promise<ExitCode> {
  const { machine, server, out } = invocation;
  if (server !== null || machine?.worktrees === undefined)
    throw usageError(
      '`--worktree` makes a folder, so it works on the machine of the project alone, without a server',
    );
  const worktrees = await machine.worktrees();
  const { root } = await invocation.project();
  const made = await worktrees.make(root);
  const { code, run: begun } = await start(invocation.at(made.folder)).catch(async (error: unknown) => {
    await made.undo();
    throw isUnknown(error) ? notCommitted(error) : error;
  });
  if (begun === null) await made.undo();
  else await out.log(`run ${begun} works in ${made.folder}, on the branch ${made.branch}`);
  return code;
}

function isUnknown(error: unknown): error is PhasegateError {
  return error instanceof PhasegateError && error.code === 'workflow_unknown';
}

/** Right after `init` the workflow is in the folder and in no commit; the worktree has what is committed. */
function notCommitted({ code, message }: PhasegateError): PhasegateError {
  return new PhasegateError(code, `${message} (the worktree begins at the last commit)`, {
    hint: 'commit the files of the workflow and the config, then start it again; `phasegate list` shows what this folder has',
  });
}
