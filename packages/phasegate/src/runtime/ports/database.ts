import type { Run, WorkflowDatabase } from '@phasegate/core';

/** The author's own databases, protected: every attempt works on a copy, and a backup stands behind every run. */
export interface Databases {
  /**
   * A copy for one attempt at a step. Attempts at the same database come one after another, in this process and in
   * others: waits for its turn, at most as long as told, then throws `database_busy`.
   */
  begin(work: AttemptWork): Promise<Attempt>;
  /**
   * Finishes what a crash left between a saved run and its database: a prepared copy is installed where the run was
   * saved as it says, and thrown away otherwise.
   */
  recover(load: (runId: string) => Promise<Run | undefined>): Promise<void>;
  /** An online backup before a run, beside the database; older ones beyond `keep` are removed. */
  backup(runId: string, database: WorkflowDatabase): Promise<DatabaseBackup>;
  /** Puts a backup back in the database's place, after backing up what is there. */
  restore(backup: DatabaseBackup, database: WorkflowDatabase): Promise<DatabaseBackup>;
  /** Applies migrations that were not yet; gives their names. */
  migrate(database: WorkflowDatabase): Promise<readonly string[]>;
}

/** What an attempt is for. */
export interface AttemptWork {
  readonly run: string;
  readonly database: WorkflowDatabase;
  readonly signal?: AbortSignal;
}

/** One attempt's copy. */
export interface Attempt {
  /** Absolute path; `PHASEGATE_DB` of a command, and what `ctx.db` opens. */
  readonly file: string;
  /**
   * The run is about to be saved as accepted: from here on a crash is recovered from. Throws where it could not be
   * installed: `database_changed`, `database_busy`, or `database_refused` for a copy that is damaged or has another
   * schema. May be called again before `install`.
   */
  prepare(mark: AttemptMark): Promise<void>;
  /** Puts the copy in the database's place. Throws `database_changed` if someone else wrote to it meanwhile. */
  install(): Promise<void>;
  /** Forgets the copy. Harmless after `install`. */
  discard(): Promise<void>;
}

/** How to tell, after a crash, whether the run was saved as accepted. */
export interface AttemptMark {
  readonly run: string;
  /** Of the run before. */
  readonly epoch: number;
  readonly item: string | null;
  /** How many completions the run had before; tells a transition from a mere claim, which raises the epoch too. */
  readonly completions?: number;
}

/** A backup of an author's database. */
export interface DatabaseBackup {
  readonly id: string;
  readonly createdAt: string;
  /** Absolute path. */
  readonly path: string;
  /** The run it was made for. */
  readonly run: string | null;
  readonly sizeBytes: number;
}
