import type { AuditRecord, Json, Run, RunQuery, Workflow } from '@phasegate/core';
import type { Replaying } from '@phasegate/proofs';

/** What is recorded, for the one who looks at the project as a whole; never for what an agent is shown. */
export interface Records {
  /**
   * Runs with all that is recorded of them, newest first, or the named ones in their order; one at a time, as they may
   * be many. Throws `run_unknown`.
   */
  runs(of: RecordingQuery): AsyncIterable<RecordedRun>;
  /** The blockers of every refused start of a workflow whose files have this closure: such a start made no run. */
  refusedStarts(closure: string): Promise<readonly Json[]>;
  /** What a recorded run can be decided again with: checks that can be asked again, for `replayRun`. */
  lookingAgain(): Promise<Pick<Replaying, 'reads' | 'look'>>;
}

/** Which recorded runs are wanted. */
export interface RecordingQuery extends Pick<RunQuery, 'workflow' | 'limit'> {
  readonly runs?: readonly string[];
}

/** A run and its chain. */
export interface RecordedRun {
  readonly run: Run;
  /** The workflow its first records are about; another than the run's where it was migrated. */
  readonly startedWith: Workflow;
  readonly records: readonly AuditRecord[];
}
