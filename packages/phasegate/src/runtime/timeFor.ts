import type { Run } from '@phasegate/core';
import { instantOf } from './instantOf.ts';

/** INVARIANT: time never goes back past what the run has seen, whatever the clock does. */
export function timeFor(now: () => number, run: Run | null): string {
  const clock = instantOf(now());
  return run !== null && run.updatedAt > clock ? run.updatedAt : clock;
}
