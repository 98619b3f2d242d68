import type { AuditRecord, Reading } from '../phasegate.ts';
import type { AuditDraft } from './audit.ts';
import type { Signal } from './signal.ts';

/** An audit record with its place among those of all chains. */
export interface FeedRecord extends AuditRecord {
  /** Grows with every record; what `Last-Event-ID` names. */
  readonly id: number;
}

/** Everything that happens, in the order it became durable: the audit of all chains as one stream. */
export interface Feed {
  /** Records after an id, oldest first. */
  after(id: number, limit: number, reading?: Reading): Promise<readonly FeedRecord[]>;
  /** The id of the newest record; 0 when there is none. */
  newest(): Promise<number>;
  /**
   * Calls back for each record after `after` (default: from now on), in order, also those other processes write,
   * until stopped or the signal aborts. Large values stay out of them. A listener that throws is stopped.
   */
  subscribe(
    listener: (record: FeedRecord) => void | Promise<void>,
    options?: { readonly after?: number; readonly signal?: Signal },
  ): () => void;
}

/** Which records of the feed. */
export interface FeedSince {
  readonly events: readonly AuditDraft['event'][];
  /** ISO time. */
  readonly since: string;
  /** Goes on behind this one. */
  readonly after?: number;
  readonly limit: number;
}

/** The audit of all chains as one stream, and word of every commit. */
export interface FeedStore {
  /** Records of all chains after an id, in the order they became durable. */
  feed(after: number, limit: number, reading?: Reading): Promise<readonly FeedRecord[]>;
  /**
   * Records of certain events, of all chains, that were written at that time or later, in the order of the feed; some
   * that are older may be among them. What was written before is passed over, however much that is.
   */
  feedSince(query: FeedSince): Promise<readonly FeedRecord[]>;
  /** The id of the feed's newest record; 0 when there is none. */
  feedEnd(): Promise<number>;
  /**
   * Calls back after every commit, also one of another process (noticed within a second). Gives a function that
   * stops it; while nobody listens nothing is watched.
   */
  onCommit(listener: () => void): () => void;
}
