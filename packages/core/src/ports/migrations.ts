import type { Verdict } from '../engine/verdict.ts';
import type { PhaseId } from '../model/workflow.ts';
import type { Submitted } from '../phasegate.ts';
import type { UnlockedHuman } from './humans.ts';

/** Puts runs in flight under the workflow as its files have it now. */
export interface Migrations {
  /** What migrating a run would do, and whether it may be done. Nothing is changed. Throws `run_unknown`. */
  card(runId: string): Promise<MigrationCard>;
  /**
   * Migrates a run to the workflow of that hash, or a beginning of it; a human's verb. The workflow's files must have
   * that hash now and be trusted (`untrusted_workflow`), and the run must be proven to be reachable in it.
   */
  migrate(runId: string, to: string, human: UnlockedHuman): Promise<Submitted>;
}

/** What a human is shown before a run is migrated. */
export interface MigrationCard {
  readonly run: string;
  readonly workflow: string;
  /** File of the definition. */
  readonly path: string;
  /** Hash of the workflow the run has. */
  readonly from: string;
  /** Hash of the workflow on disk. */
  readonly to: string;
  /** Whether a human accepted the files as they are. */
  readonly trusted: boolean;
  readonly phases: readonly {
    readonly phase: PhaseId;
    readonly change: 'added' | 'changed' | 'removed' | 'same';
  }[];
  /** Whether something beside the phases is another. */
  readonly besides: boolean;
  /** What the engine would answer, trust aside. */
  readonly verdict: Verdict;
  /** How the new workflow leads to where the run is, one step a line; empty where it does not. */
  readonly trace: readonly string[];
}
