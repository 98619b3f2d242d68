import { PhasegateError, type Run } from '@phasegate/core';
import type { DriveRequest } from '../runtime/ports.ts';
import type { Driving } from './parts.ts';

/** How often the run is attended to, which renews a lease of any length, and shows whether it is still ours. */
const LOOK_MS = 1500;

/** Keeps the hold on a run while a step takes its time, and says when it is lost or a human stopped the run. */
export function keepHold(
  request: DriveRequest,
  principal: Driving['principal'],
): { readonly loss: AbortSignal; stop(): void } {
  const loss = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const look = async () => {
    try {
      const run = await request.open.claims.attend(request.run, principal);
      if (run.status === 'stopped' || !isOurs(run, principal.name)) loss.abort();
    } catch (error) {
      // A store that is busy for a moment is asked again; anyone who submits next is told.
      if (error instanceof PhasegateError && error.code === 'not_permitted') loss.abort();
    }
    again();
  };
  const again = () => {
    if (!over && !loss.signal.aborted) timer = setTimeout(() => void look(), LOOK_MS);
  };
  again();
  return {
    loss: loss.signal,
    stop() {
      over = true;
      clearTimeout(timer);
    },
  };
}

/** Whether this agent may drive a run: it holds it, or nobody does and a human must act before anybody can. */
export function isOurs({ holder, status }: Run, agent: string): boolean {
  return holder === agent || (holder === null && (status === 'waiting' || status === 'escalated'));
}
