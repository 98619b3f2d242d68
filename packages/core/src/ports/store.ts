import type { AgentStore } from './agents.ts';
import type { ArchiveStore } from './archives.ts';
import type { AuditStore } from './auditStore.ts';
import type { CallStore } from './calls.ts';
import type { DatabaseBackupStore } from './database.ts';
import type { Duty } from './duty.ts';
import type { FeedStore } from './feed.ts';
import type { RunFinder } from './finding.ts';
import type { HumanStore } from './humans.ts';
import type { KeptStore } from './kept.ts';
import type { LeaseStore } from './leases.ts';
import type { RunStore } from './runs.ts';
import type { TrustStore } from './trust.ts';
import type { WebhookStore } from './webhooks.ts';

/** What is kept for the project as a whole: who takes part, what they accepted, and who is told. */
export interface ProjectStore extends HumanStore, TrustStore, AgentStore, WebhookStore, DatabaseBackupStore {}

/**
 * Where runs and their audit live. Async; every write is one durable transaction. Each part is a port of its own, so
 * that the one who is given a store says what of it is used. `storeContract` is what an implementation must pass.
 */
export interface Store
  extends RunStore,
    RunFinder,
    AuditStore,
    ArchiveStore,
    FeedStore,
    LeaseStore,
    CallStore,
    KeptStore,
    ProjectStore {
  /**
   * Milliseconds since 1970 by the clock that all who share the store go by; never less than before. Absent: each goes by
   * its own, as they are on one machine.
   */
  now?(): number;
  /** Which of several servers does what only one may do. Absent: there can be only one. */
  readonly duty?: Duty;
  /** Whether it can be written to as it is now. Absent: who could open it can write to it. */
  takesWrites?(): Promise<boolean>;
  /**
   * Throws `store_unavailable` where writes failed and still would, though reads go well; cheap where none failed.
   * Absent: what can be read is taken to be writable.
   */
  demandWritable?(): Promise<void>;
  /** A consistent copy while others write. */
  backup(file: string): Promise<BackupRecord>;
  close(): Promise<void>;
}

/** One backup. */
export interface BackupRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly path: string;
  readonly sizeBytes: number;
}
