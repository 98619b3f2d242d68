import type { Submitted } from '@phasegate/core';
import type { ChangedFile } from '@phasegate/core/engine';
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

/**
 * What a phase changed until the gate opened at which its run waits: from the two measures that were taken then, and
 * from nothing that stands in the workspace now. Throws `fence_failed` where nothing was measured.
 */
export interface ChangesAtGate {
  /** Every file, without contents. */
  files(runId: string): Promise<readonly ChangedFile[]>;
  /** One of them with its texts; null where it did not change. */
  file(runId: string, path: string): Promise<ChangedFile | null>;
}
