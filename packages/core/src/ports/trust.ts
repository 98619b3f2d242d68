import type { AuditDraft } from './audit.ts';

/**
 * Where it is kept what humans accepted. What is read is what the project's chain says, or nothing, or `state_tampered` is
 * thrown: an acceptance that was given up must not be the newest again where its successor was taken away.
 */
export interface TrustStore {
  trusted(hash: string): Promise<TrustRecord | undefined>;
  /** The newest acceptance of a workflow, whatever its hash. */
  trustedBefore(workflow: string): Promise<TrustRecord | undefined>;
  /** All of them, the newest first. */
  acceptances(): Promise<readonly TrustRecord[]>;
  putTrust(trust: TrustRecord, audit: readonly AuditDraft[]): Promise<void>;
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
