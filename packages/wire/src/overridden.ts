import type { PhaseId } from '@phasegate/core';

/** A phase that a human led the run past, with the reason. */
export type Overridden = {
  readonly phase: PhaseId;
  /** Where it led; null for the end of the run. */
  readonly to: PhaseId | null;
  readonly reason: string;
  readonly by: string;
  readonly at: string;
};
