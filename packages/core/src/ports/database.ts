import type { Run } from '../engine/run.ts';
import type { WorkflowDatabase } from '../model/workflow.ts';
import type { AuditDraft } from './audit.ts';
import type { Signal } from './signal.ts';

/** The author's own databases, protected: every attempt works on a copy, and a backup stands behind every run. */
export interface Databases {
  /**
   * A copy for one attempt at a step. Attempts at the same database come one after another, in this process and in
   * others: waits for its turn, at most as long as told, then throws `database_busy`.
   */
  begin(work: AttemptWork): Promise<Attempt>;
  /** The sealed copy that waits for a human's decision; null where it is gone, or is no longer what was sealed. */
  waiting(at: WaitingAt): Promise<Attempt | null>;
  /** Drops a copy that waited, for good. Harmless where there is none. */
  drop(at: WaitingAt): Promise<void>;
  /**
   * Finishes what a crash left between a saved run and its database: a prepared copy is installed where the run was
   * saved as completed with it, kept where the run waits for a decision about it, and thrown away otherwise.
   */
  recover(load: (runId: string) => Promise<Run | undefined>): Promise<void>;
  /** An online backup before a run, beside the database; older ones beyond `keep` are removed. */
  backup(runId: string, database: WorkflowDatabase): Promise<DatabaseBackup>;
  /**
   * Puts a backup back in the database's place, after backing up what is there. Throws `database_refused` for one whose
   * bytes are not those of its `sha256`.
   */
  restore(backup: DatabaseBackup, database: WorkflowDatabase): Promise<DatabaseBackup>;
  /** Applies migrations that were not yet; gives their names. Only those in `accepted`, where the database has that. */
  migrate(database: WorkflowDatabase): Promise<readonly string[]>;
  /** From now on no write scope of any workflow reaches this database, its journals, backups and migrations. */
  protect(database: WorkflowDatabase): Promise<void>;
  /** Asks of a normal path inside the project whether it belongs to a database that is protected. */
  protection(): Promise<(path: string) => boolean>;
}

/** What an attempt is for. */
export interface AttemptWork {
  readonly run: string;
  readonly database: WorkflowDatabase;
  readonly signal?: Signal;
}

/** A copy that waits at a gate. */
export interface WaitingAt {
  readonly run: string;
  readonly database: WorkflowDatabase;
  /** SHA-256 of the copy. */
  readonly hash: string;
}

/** One attempt's copy. */
export interface Attempt {
  /** Absolute path; `PHASEGATE_DB` of a command, and what a handler's `ctx.db` opens. */
  readonly file: string;
  /**
   * The work is done: from here on only the sealed copy counts, which nobody who worked on the other knows. Throws
   * `database_refused` for a copy that is damaged or has another schema. Sealed once, however often it is called.
   */
  seal(): Promise<SealedCopy>;
  /**
   * The run is about to be saved as accepted: from here on a crash is recovered from. Throws where it could not be
   * installed: `database_changed` or `database_busy`. Seals first, and may be called again before `install`.
   */
  prepare(mark: AttemptMark): Promise<void>;
  /** Puts the sealed copy in the database's place. Throws `database_changed` if someone else wrote to either. */
  install(): Promise<void>;
  /** Leaves the sealed copy where it is, to wait for a human. Only after `prepare`. */
  keep(): Promise<void>;
  /** Forgets the copy. Harmless after `install` and `keep`. */
  discard(): Promise<void>;
}

/** What a step left, out of its hands. */
export interface SealedCopy {
  /** Absolute path, to be read only. */
  readonly file: string;
  /** SHA-256 of the file; null where the step changed nothing. */
  readonly hash: string | null;
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
  /** Of the file when it was made; absent where that was not kept. */
  readonly sha256?: string;
}

/** Where it is kept which backups of authors' databases there are. */
export interface DatabaseBackupStore {
  /** Records a backup of an author's database. */
  putBackup(backup: DatabaseBackup, audit: readonly AuditDraft[]): Promise<void>;
  /** Backups of authors' databases, newest first. */
  databaseBackups(): Promise<readonly DatabaseBackup[]>;
}
