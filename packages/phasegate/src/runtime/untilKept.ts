import { PhasegateError } from '@phasegate/core';

/** Does it anew where the humans changed meanwhile, with those who are there then. */
export async function untilKept(attempt: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) if (await attempt()) return;
  throw new PhasegateError('run_changed', 'the humans were changed by others at the same time; try again');
}

const ROUNDS = 5;
