/** Where runs go that ended long ago. A store that keeps all runs has none of it. */
export interface ArchiveStore {
  /**
   * Moves runs that ended, with their chains, to a signed file, and leaves a sealed stub of each. Null where no run is
   * that old. Throws `audit_broken` where the audit does not verify, `store_unavailable` where the file exists. A store may
   * move some at a time: what is cut off leaves those that were not moved yet where they are, and the audit verifies.
   */
  archive?(order: ArchiveOrder): Promise<ArchiveRecord | null>;
  /** Where a run went. Throws `state_tampered` when its stub does not match its seal. */
  archivedRun?(runId: string): Promise<ArchivedRun | undefined>;
  /** Every file that runs went to, as their stubs name it; nothing is verified for it. */
  archiveFiles?(): Promise<readonly ArchiveFile[]>;
}

/** A file with archived runs, and how many went to it. */
export type ArchiveFile = Pick<ArchivedBundle, 'file' | 'runs'>;

/** What is to be archived, and where to. */
export interface ArchiveOrder {
  /** Runs that ended and were not changed since. ISO time. */
  readonly before: string;
  /** Absolute path; never overwritten. */
  readonly file: string;
  /** The principal who wants it. */
  readonly by: string;
}

/** What was archived. */
export interface ArchiveRecord {
  readonly file: string;
  /** Of the whole file. */
  readonly sha256: string;
  readonly runs: number;
  readonly records: number;
}

/** Where one run went. */
export interface ArchivedRun {
  readonly file: string;
  readonly sha256: string;
  readonly archivedAt: string;
}

/** A file with archived runs, as a verification tells of it. */
export interface ArchivedBundle {
  readonly file: string;
  readonly sha256: string;
  /** How many stubs name it. */
  readonly runs: number;
  /** Whether the file was read, as it was given or an anchor asked for it, and is what it was. */
  readonly verified: boolean;
  /** Where the file was read, and is not what was archived. */
  readonly replaced?: true;
}
