import { PhasegateError } from '@phasegate/core';
import { isRunId } from '@phasegate/core/contract';

/** Refuses what is not the id of a run: folders are called after it and removed, and another's server names it. */
export function demandRunId(run: string): void {
  if (isRunId(run)) return;
  throw new PhasegateError('server_unreachable', 'the server handed out a run whose id is none', {
    hint: 'see that `--url` names a Phasegate server; nothing was started',
  });
}
