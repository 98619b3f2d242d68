import { PhasegateError, type RunView } from '@phasegate/core';
import { isRunId } from '@phasegate/core/contract';
import type { Invocation } from './command.ts';
import { LOCAL_AGENT } from './unlockHuman.ts';

/**
 * The same call in the git worktree its run works in, so that a human acts on any run of the project from any of its
 * folders. INVARIANT: where a run works is what its record says; the folder must be one of the same state.
 */
export async function atRun(invocation: Invocation, runId: string): Promise<Invocation> {
  if (invocation.server !== null) return invocation;
  const { folder } = await (await invocation.open()).load(runId);
  const { root, stateDir } = await invocation.project();
  if (folder === undefined || folder === root) return invocation;
  const there = invocation.at(folder);
  if ((await there.project()).stateDir === stateDir) return there;
  throw new PhasegateError(
    'not_permitted',
    `run \`${runId}\` works in \`${folder}\`, which is not a folder of this project any more`,
    { hint: '`git worktree list` shows the folders there are' },
  );
}

/** What may be seen of the run that was named before anybody has proven who they are; null where that is nothing. */
export async function seenBefore(invocation: Invocation): Promise<RunView | null> {
  const runId = invocation.args.positionals[0] ?? '';
  if (invocation.server !== null || !isRunId(runId)) return null;
  const gate = (await invocation.open()).as(LOCAL_AGENT);
  return gate.view(runId).catch((error: unknown) => {
    if (error instanceof PhasegateError) return null;
    throw error;
  });
}
