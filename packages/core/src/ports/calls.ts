import type { HeldAt } from '../engine/holding.ts';
import type { AuditDraft } from './audit.ts';

/**
 * An allowed tool call under way. It stands in the store, so that every process that shares the store knows of it: a
 * phase is not left under a call it allowed, no matter who carries the call out.
 */
export interface CallRecord {
  readonly id: string;
  readonly run: string;
  /** Key of the item whose token it came with; null where it came for the run itself. */
  readonly item: string | null;
  readonly tool: string;
  /** The process that carries it out, told apart from a later one of the same number. */
  readonly process: string;
  /** ISO time from which it no longer counts, whatever became of its process. */
  readonly deadline: string;
  /** Somebody wants it ended; the process that carries it out looks for this. */
  readonly ending: boolean;
}

/** What a store knows of the calls of a run, or of one item of it. */
export interface RunCalls {
  /** Those that were begun and not dropped, by id. */
  readonly under: readonly CallRecord[];
  /** How many were ever begun: one that came and went in between shows by this. */
  readonly begun: number;
}

/** Which calls must be over for a run to be written. */
export interface CallsOver {
  /** Only those of this item; null for all of the run. */
  readonly item: string | null;
  /** Ids of those that no longer count, because their process is gone or their time is up: dropped with the write. */
  readonly void: readonly string[];
  /** How many were begun when it was looked: where it says so, none may have been begun since. */
  readonly begun?: number;
}

/** Where the tool calls under way are kept. */
export interface CallStore {
  /**
   * Keeps a call as under way and appends to its run's chain, if the run still has that version and, where it says so,
   * the one who asked still holds it by that token; else nothing, and false. So a call is under way only in the state it
   * was judged in.
   */
  beginCall(call: CallRecord, version: number, audit: readonly AuditDraft[], held?: HeldAt): Promise<boolean>;
  /** Drops a call and appends to its run's chain. One that is not there any more is not a fault. */
  endCall(call: Pick<CallRecord, 'id' | 'run'>, audit: readonly AuditDraft[]): Promise<void>;
  /** The calls of a run, or with an item those of that item. */
  calls(runId: string, item: string | null): Promise<RunCalls>;
  /** Marks calls of a run as `ending`. */
  askToEnd(runId: string, ids: readonly string[]): Promise<void>;
}
