import type { JsonObject } from '../json.ts';
import type { AuditDraft } from './audit.ts';

/**
 * Something small the runtime keeps between processes: the run a client's session is bound to, what was decided on one
 * of its calls, a pause. Sealed, so that a row put into the database binds nobody.
 */
export interface KeptRecord {
  /** What it is about, e.g. `session`. */
  readonly kind: string;
  readonly key: string;
  readonly data: JsonObject;
}

/** What a record is kept with, in the same transaction. */
export interface KeptBeside {
  /** Whose chain the audit goes on; null for the project's. */
  readonly run: string | null;
  readonly audit: readonly AuditDraft[];
  /** The run must still be in it. */
  readonly epoch?: number | undefined;
  /** What must be kept under that key now; null: nothing. Left out: whatever it is. */
  readonly was?: JsonObject | null | undefined;
}

/** The last of some records by their keys: all can be read in pieces from the end, while others are served in between. */
export interface KeptPart {
  readonly limit: number;
  /** Left out: the very last. */
  readonly before?: string | undefined;
}

/** Where such records are. */
export interface KeptStore {
  /** Throws `state_tampered` where the record does not match its seal. */
  kept(kind: string, key: string): Promise<JsonObject | undefined>;
  /** Those whose key begins so, by key; or a part of them, where there may be many. */
  keptAll(kind: string, prefix?: string, part?: KeptPart): Promise<readonly KeptRecord[]>;
  /** Keeps one, in place of what had its key. False, and nothing written, where `beside` no longer holds. */
  keep(record: KeptRecord, beside: KeptBeside): Promise<boolean>;
  /** Drops those whose key begins so, or the one whose key it is where `isKey` says that; says how many. */
  dropKept(kind: string, prefix: string, isKey?: boolean): Promise<number>;
}
