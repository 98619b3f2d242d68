import type { PhaseId, Submitted } from '@phasegate/core';
import type { FenceAct, FenceAction, TreeChange } from '@phasegate/core/engine';
import type { Ring } from '@phasegate/core/model';
import type { FenceFiles, UnlockedHuman } from '@phasegate/core/ports';

/** How the workspace differs from what it was when a run's phase was entered. */
export interface FenceReport {
  readonly run: string;
  readonly phase: PhaseId;
  readonly ring: Ring;
  /** The phase's write scope. */
  readonly writes: readonly string[];
  /** Hash of the measure it is compared with; null where the phase was entered without one. */
  readonly tree: string | null;
  /** Why nothing can be compared; null where it can. */
  readonly problem: string | null;
  readonly outside: readonly TreeChange[];
  /** What is on record and refuses nothing. */
  readonly noticed: readonly TreeChange[];
  /** How many paths changed inside the scope. */
  readonly inside: number;
  /** What could not be taken into account, in words. */
  readonly notes: readonly string[];
  /** What humans did about it so far, in the whole run. */
  readonly settled: readonly FenceAct[];
}

/** What a human wants done. */
export interface FenceOrder {
  readonly action: FenceAction;
  /** Paths, or folders with all that changed in them; `all` for a new measure of everything. */
  readonly paths: readonly string[] | 'all';
  readonly reason: string;
}

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
