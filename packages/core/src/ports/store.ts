import type { Run } from '../engine/run.ts';
import type { Workflow } from '../model/workflow.ts';
import type { AuditRecord, RunQuery, RunSummary } from '../phasegate.ts';
import type { AgentRecord } from './agents.ts';
import type { AuditDraft, AuditReport } from './audit.ts';
import type { CallRecord, CallsOver, RunCalls } from './calls.ts';
import type { DatabaseBackup } from './database.ts';
import type { FeedRecord } from './feed.ts';
import type { LeaseChange, LeaseRecord } from './leases.ts';
import type { WebhookProgress, WebhookRecord } from './webhooks.ts';

/**
 * Where runs and their audit live. Small and async; every write is one durable transaction.
 * `storeContract` (stores/contract.ts) is what an implementation must pass.
 */
export interface Store {
  /** The run and its version, or undefined. Throws `state_tampered` when the row does not match its seal. */
  load(runId: string): Promise<StoredRun | undefined>;
  /**
   * The run and a lease on it as `load` and `lease` give them, at once. A store that has to wait for them has no such
   * way. On the path of every tool call.
   */
  peek?(runId: string, item: string | null): Peeked;
  /**
   * Makes a run; its events open its chain and `project` goes on the project's chain. False when the id is taken, or
   * when its workflow says `oneRunPer` and a run that is not ended stands in the way (`runInTheWay`).
   */
  create(run: Run, audit: readonly AuditDraft[], project: readonly AuditDraft[]): Promise<boolean>;
  /**
   * Writes run and audit if the stored version is still `version`; else nothing, and false. A run that has another
   * workflow now must be told so by its audit; the ones it had are kept.
   */
  save(run: Run, version: number, audit: readonly AuditDraft[], beside?: Beside): Promise<boolean>;
  /** Appends to a run's chain (or the project's, with null) without changing state, if the epoch is still the given one. */
  note(runId: string | null, audit: readonly AuditDraft[], epoch?: number): Promise<boolean>;
  /** Records of one chain in order. */
  history(
    runId: string | null,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly AuditRecord[]>;
  /** The workflow of that hash, where any run has or had it. Throws `state_tampered` when it was changed. */
  workflow(hash: string): Promise<Workflow | undefined>;
  list(query: RunQuery & { readonly holder?: string }): Promise<readonly RunSummary[]>;
  /** Queued runs in the order they are to be claimed: highest priority first, then the oldest. */
  queue(): Promise<readonly RunSummary[]>;

  /** Records of all chains after an id, in the order they became durable. */
  feed(after: number, limit: number): Promise<readonly FeedRecord[]>;
  /** The id of the feed's newest record; 0 when there is none. */
  feedEnd(): Promise<number>;
  /**
   * Calls back after every commit, also one of another process (noticed within a second). Gives a function that
   * stops it; while nobody listens nothing is watched.
   */
  onCommit(listener: () => void): () => void;

  lease(runId: string, item: string | null): Promise<LeaseRecord | undefined>;
  leases(): Promise<readonly LeaseRecord[]>;
  /** Writes a lease over the one it replaces, if that is still held by the same agent in the same epoch; else false. */
  putLease(lease: LeaseRecord): Promise<boolean>;
  dropLease(runId: string, item: string | null): Promise<void>;

  /**
   * Keeps a call as under way and appends to its run's chain, if the run still has that version; else nothing, and
   * false. So a call is under way only in the state it was judged in.
   */
  beginCall(call: CallRecord, version: number, audit: readonly AuditDraft[]): Promise<boolean>;
  /** Drops a call and appends to its run's chain. One that is not there any more is no fault. */
  endCall(call: Pick<CallRecord, 'id' | 'run'>, audit: readonly AuditDraft[]): Promise<void>;
  /** The calls of a run, or with an item those of that item. */
  calls(runId: string, item: string | null): Promise<RunCalls>;
  /** Marks calls of a run as `ending`. */
  askToEnd(runId: string, ids: readonly string[]): Promise<void>;

  agents(): Promise<readonly AgentRecord[]>;
  /** Adds an agent or replaces its key. */
  putAgent(agent: AgentRecord, audit: readonly AuditDraft[]): Promise<void>;
  removeAgent(name: string, audit: readonly AuditDraft[]): Promise<boolean>;

  webhooks(): Promise<readonly (WebhookRecord & WebhookProgress)[]>;
  putWebhook(webhook: WebhookRecord & WebhookProgress, audit: readonly AuditDraft[]): Promise<void>;
  removeWebhook(id: string, audit: readonly AuditDraft[]): Promise<boolean>;
  /** Moves a webhook's deliveries on; a failure to keep up is a record too. */
  putProgress(progress: WebhookProgress, audit: readonly AuditDraft[]): Promise<void>;

  /** Throws `state_tampered` where there is none and the project's chain says that there should be. */
  humans(): Promise<readonly HumanRecord[]>;
  /** Adds or replaces a human. Given `among`, only while those are the humans there are; else false. */
  putHuman(
    human: HumanRecord,
    audit: readonly AuditDraft[],
    among?: readonly HumanRecord[],
  ): Promise<boolean>;
  /** False where there is no such human, or, given `among`, where those are not the humans there are. */
  removeHuman(name: string, audit: readonly AuditDraft[], among?: readonly HumanRecord[]): Promise<boolean>;

  trusted(hash: string): Promise<TrustRecord | undefined>;
  /** The newest acceptance of a workflow, whatever its hash. */
  trustedBefore(workflow: string): Promise<TrustRecord | undefined>;
  putTrust(trust: TrustRecord, audit: readonly AuditDraft[]): Promise<void>;

  /** Checks every chain, seal and head; yields what it finds, nothing when all is well. */
  verify(): Promise<AuditReport>;
  /** Records a backup of an author's database. */
  putBackup(backup: DatabaseBackup, audit: readonly AuditDraft[]): Promise<void>;
  /** Backups of authors' databases, newest first. */
  databaseBackups(): Promise<readonly DatabaseBackup[]>;
  /** A consistent copy while others write. */
  backup(file: string): Promise<BackupRecord>;
  close(): Promise<void>;
}

/** What is written in the same transaction as a run. */
export interface Beside {
  /** For the project's chain. */
  readonly project?: readonly AuditDraft[];
  readonly leases?: readonly LeaseChange[];
  /** Nothing is written, and the answer is false, where other calls are under way, or more were begun. */
  readonly calls?: CallsOver;
}

/** A run with the version it was read at. */
export interface StoredRun {
  readonly run: Run;
  readonly version: number;
}

/** What is at hand of a run and a lease on it. */
export interface Peeked {
  readonly run: Run | undefined;
  readonly lease: LeaseRecord | undefined;
}

/** A human and the wrapped key only their passphrase opens. */
export interface HumanRecord {
  readonly name: string;
  /** Ed25519, SPKI, base64url. */
  readonly publicKey: string;
  readonly wrappedKey: WrappedKey;
  readonly addedAt: string;
  /** When the passphrase was changed; left out where it never was. */
  readonly changedAt?: string;
}

/** A private key encrypted by AES-256-GCM under a key derived by scrypt. All fields base64url. */
export interface WrappedKey {
  readonly kdf: 'scrypt';
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly iv: string;
  readonly tag: string;
  readonly ciphertext: string;
}

/** A human accepted these files. */
export interface TrustRecord {
  readonly hash: string;
  readonly workflow: string;
  /** Path relative to the project → SHA-256. */
  readonly files: Readonly<Record<string, string>>;
  readonly by: string;
  readonly at: string;
  readonly signature: string;
}

/** One backup. */
export interface BackupRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly path: string;
  readonly sizeBytes: number;
}
