import { ALLOWED, blocker, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { type Considered, turnAway } from './deciding.ts';
import type { Run } from './run.ts';

type Fence = Extract<Command, { kind: 'fence' }>;

/** A human restores, moves aside or accepts what was changed outside the scope. */
export function considerFence(run: Run, command: Fence, { principal, now }: Circumstance): Considered {
  if (principal.kind !== 'human') {
    const message = 'only a human may settle what was changed outside the scope';
    return turnAway([blocker('not_a_human', message, nextActionFor(run))]);
  }
  if (run.phase === null) {
    return turnAway([blocker('run_ended', `run \`${run.id}\` is already ${run.status}`, nextActionFor(run))]);
  }
  const { action, paths, reason, tree } = command;
  if (action === 'accept' && reason.trim() === '') {
    return turnAway([blocker('reason_required', 'accepting a change needs a reason', nextActionFor(run))]);
  }
  return {
    verdict: ALLOWED,
    events: [
      {
        at: now,
        type: 'fence_settled',
        action,
        phase: run.phase,
        paths,
        reason,
        by: principal.name,
        ...(tree === undefined ? {} : { tree }),
      },
    ],
  };
}
