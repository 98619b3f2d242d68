import type { PhaseDraft } from '@phasegate/core';
import type { Place } from './report.ts';

/** A phase with the files its problems belong to. */
export interface PlacedPhase {
  readonly draft: PhaseDraft;
  readonly file: string;
  /** Where its evidence is asked for. */
  readonly evidenceFile: string;
  /** Where a part of the draft is written, by its path in the phase; null where no key of a file says it. */
  locate?(path: readonly (string | number)[]): Place | null;
}
