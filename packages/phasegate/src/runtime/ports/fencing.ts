import type { Submitted } from '@phasegate/core';
import type { FenceFiles, FenceOrder, FenceReport, UnlockedHuman } from '@phasegate/core/ports';

export type { FenceOrder, FenceReport } from '@phasegate/core/ports';

/** The fence as people see it. */
export interface Fencing {
  report(runId: string): Promise<FenceReport>;
  /** How what was changed outside the scope differs; with paths, how those do. */
  diff(runId: string, paths: readonly string[]): Promise<string>;
  /** A human's verb. */
  settle(
    runId: string,
    order: FenceOrder,
    human: UnlockedHuman,
  ): Promise<{ readonly submitted: Submitted } & FenceFiles>;
}
