import type { Run } from '@phasegate/core';

/** INVARIANT: time never goes back past what the run has seen, whatever the clock does. */
export function timeFor(now: () => number, run: Run | null): string {
  const clock = instantOf(now());
  return run !== null && run.updatedAt > clock ? run.updatedAt : clock;
}

/** ISO time of a clock's milliseconds. Many calls come within one, and writing it out costs more than judging them. */
function instantOf(now: number): string {
  if (now !== lastTime) {
    lastTime = now;
    lastInstant = new Date(now).toISOString();
  }
  return lastInstant;
}

let lastTime = Number.NaN;
let lastInstant = '';
