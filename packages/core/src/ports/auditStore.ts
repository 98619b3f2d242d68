import type { HeldAt } from '../engine/holding.ts';
import type { AuditRecord, Reading } from '../phasegate.ts';
import type { AuditDraft, AuditReport } from './audit.ts';
import type { FeedRecord, FeedSince } from './feed.ts';

/** Where the audit lives: one chain for each run, and one for the project. */
export interface AuditStore {
  /** Appends to a run's chain (or the project's, with null) without changing state, if what it was judged on is still so. */
  note(runId: string | null, audit: readonly AuditDraft[], judgedAt?: number | HeldAt): Promise<boolean>;
  /** Records of one chain in order. */
  history(
    runId: string | null,
    page: { readonly after: number; readonly limit: number } & Reading,
  ): Promise<readonly AuditRecord[]>;
  /** Checks every chain, seal and head; yields what it finds, nothing when all is well. */
  verify(options?: VerifyOptions): Promise<AuditReport>;
}

/** How the audit is verified. */
export interface VerifyOptions {
  /** An anchor of an earlier verification: runs without a record that is newer are not read again. */
  readonly since?: string;
  /** Anchors that were kept outside: all chains must go through every one of them. */
  readonly anchors?: readonly string[];
  /** Whether an anchor is wanted. */
  readonly anchor?: boolean;
  /** Files that runs were archived to, to be verified too. */
  readonly archives?: readonly string[];
  /** Told now and then how many records were verified so far. */
  readonly onProgress?: (records: number) => void;
  /** Given what was verified, where all of it holds, to read from: the very same moment, whatever was written since. */
  readonly reading?: (moment: VerifiedMoment) => Promise<void>;
}

/** The records of a project as they were verified. */
export interface VerifiedMoment {
  feedSince(query: FeedSince): Promise<readonly FeedRecord[]>;
  /** Those who are still there, with their public keys. */
  humans(): Promise<readonly { readonly name: string; readonly publicKey: string }[]>;
}
