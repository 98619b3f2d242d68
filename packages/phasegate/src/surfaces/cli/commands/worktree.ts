import { PhasegateError, type RunStatus } from '@phasegate/core';
import { oneLine, shellWord } from '@phasegate/core/model';
import type { RunWorktree, Worktrees } from '../../../runtime/ports.ts';
import type { CliCommand, ExitCode, Invocation } from '../command.ts';
import { wholeRun } from '../runOf.ts';
import { table } from '../text/table.ts';
import { LOCAL_AGENT } from '../unlockHuman.ts';
import { usageError } from '../usage.ts';

/** `phasegate worktree`: the git worktrees of runs. */
export const worktree: CliCommand = {
  usage: ['worktree [list]', 'worktree remove RUN'],
  details:
    'A run that was started with --worktree works in ../PROJECT.worktrees/RUN, on the branch phasegate/RUN. What it did is\n' +
    'yours to merge: `git merge phasegate/RUN` in the main folder. `remove` takes the folder away once its run has ended,\n' +
    'and the branch too where its commits are in another one. It removes nothing that is not committed.',
  examples: ['phasegate worktree list', 'phasegate worktree remove run-0f5c2f7f5a3f8f0c9b1e'],
  options: {},
  positionals: ['[ACTION]', '[RUN]'],
  async run(invocation) {
    const [action = 'list', run] = invocation.args.positionals;
    const { machine } = invocation;
    if (machine?.worktrees === undefined) throw usageError('no worktrees are made or removed from here');
    const worktrees = await machine.worktrees();
    if (action === 'list' && run === undefined) return list(invocation, worktrees);
    if (action === 'remove' && run !== undefined)
      return remove(invocation, worktrees, await wholeRun(invocation, LOCAL_AGENT, run));
    throw usageError('it is `phasegate worktree list` or `phasegate worktree remove RUN`');
  },
};

async function list(invocation: Invocation, worktrees: Worktrees): Promise<ExitCode> {
  const { root } = await invocation.project();
  const found = await worktrees.list(root);
  const lines = await Promise.all(
    found.map(async (one) => ({ ...one, status: await statusOf(invocation, one.run) })),
  );
  await invocation.out.result({ worktrees: lines }, () =>
    lines.length === 0 ? 'no run has a worktree' : table(lines.map(cells)),
  );
  return 0;
}

function cells({ run, status, branch, folder }: RunWorktree & { readonly status: string }): string[] {
  return [run, status, branch, oneLine(folder)];
}

async function remove(invocation: Invocation, worktrees: Worktrees, run: string): Promise<ExitCode> {
  const { root } = await invocation.project();
  const status = await statusOf(invocation, run);
  if (!OVER.has(status))
    throw new PhasegateError('not_permitted', `run \`${run}\` is ${status}, so its folder is still needed`, {
      hint: `finish it, or have a human end it with \`phasegate stop ${shellWord(run)} --reason TEXT\``,
    });
  const { folder, branch, branchKept } = await worktrees.remove(root, run);
  await invocation.out.result({ run, folder, branch, branch_kept: branchKept }, () =>
    [
      `${oneLine(folder)}: removed`,
      branchKept
        ? `the branch ${branch} has commits that are in no other: merge it with \`git merge ${shellWord(branch)}\``
        : `the branch ${branch} is gone too: its commits are in another`,
    ].join('\n'),
  );
  return 0;
}

const OVER: ReadonlySet<string> = new Set(['completed', 'stopped', 'unknown']);

/** A run whose start was cut off left a folder and is not there itself. */
async function statusOf(invocation: Invocation, run: string): Promise<RunStatus | 'unknown'> {
  const open = await invocation.open();
  try {
    return (await open.load(run)).status;
  } catch (error) {
    if (error instanceof PhasegateError && ['run_unknown', 'run_archived'].includes(error.code))
      return 'unknown';
    throw error;
  }
}
