import type { HeldAt } from '../engine/holding.ts';
import type { Run } from '../engine/run.ts';
import type { Workflow } from '../model/workflow.ts';
import type { RunQuery, RunSummary } from '../phasegate.ts';
import type { AuditDraft } from './audit.ts';
import type { CallsOver } from './calls.ts';
import type { LeaseChange, LeaseRecord } from './leases.ts';

/** Where runs live, each with the workflow it was started with. */
export interface RunStore {
  /** The run and its version, or undefined. Throws `state_tampered` when the row does not match its seal. */
  load(runId: string): Promise<StoredRun | undefined>;
  /**
   * The run and a lease on it as `load` and `lease` give them, at once. A store that has to wait for them has no such
   * way. On the path of every tool call.
   */
  peek?(runId: string, item: string | null): Peeked;
  /**
   * Makes a run; its events open its chain and `project` goes on the project's chain. False when the id is taken, or
   * when its workflow says `oneRunPer` and a run that is not ended stands in the way (`runInTheWay`), or when it is begun
   * and another has the workspace (`keepsOut`).
   */
  create(run: Run, audit: readonly AuditDraft[], project: readonly AuditDraft[]): Promise<boolean>;
  /**
   * Writes run and audit if the stored version is still `version`; else nothing, and false. So where the run comes to hold
   * a workspace that another one has (`keepsOut`). A run that has another workflow now must be told so by its audit; the
   * ones it had are kept.
   */
  save(run: Run, version: number, audit: readonly AuditDraft[], beside?: Beside): Promise<boolean>;
  /** The workflow of that hash, where any run has or had it. Throws `state_tampered` when it was changed. */
  workflow(hash: string): Promise<Workflow | undefined>;
  /** Newest first. */
  list(query: RunListQuery): Promise<readonly RunSummary[]>;
}

/** Which runs a store lists. */
export interface RunListQuery extends Omit<RunQuery, 'held'> {
  readonly holder?: string;
  /** Only those that nobody holds, or this agent: what others hold takes no place of the `limit`. */
  readonly seenBy?: string;
}

/** What is written in the same transaction as a run. */
export interface Beside {
  /** For the project's chain. */
  readonly project?: readonly AuditDraft[];
  readonly leases?: readonly LeaseChange[];
  /** Nothing is written, and the answer is false, where other calls are under way, or more were begun. */
  readonly calls?: CallsOver;
  /** Nothing is written, and the answer is false, where the one who asked does not hold it by that token any more. */
  readonly held?: HeldAt;
  /** Nothing is written, and the answer is false, where this lease was renewed, or is another one by now. */
  readonly seen?: LeaseRecord;
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
