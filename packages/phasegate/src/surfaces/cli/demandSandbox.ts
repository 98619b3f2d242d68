import { PhasegateError } from '@phasegate/core';
import type { Workshop } from '../../runtime/ports.ts';

/** INVARIANT: a run that was to be held never starts without what holds it. */
export async function demandSandbox(open: Pick<Workshop, 'sandboxes'>): Promise<void> {
  const state = await open.sandboxes.state();
  if (state.works) return;
  throw new PhasegateError('sandbox_unavailable', `there can be no sandbox here: ${state.reason}`, {
    hint: state.nextStep,
  });
}
