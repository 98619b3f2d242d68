/** One of the guard's own files as it stood. */
export interface GuardedEntry {
  readonly kind: 'file' | 'link';
  /** SHA-256 of the content, or the target of a link. */
  readonly digest: string;
}

/** The guard's own files of a workspace by their paths. */
export type GuardedTree = ReadonlyMap<string, GuardedEntry>;

/** What a walk through a workspace found. */
export interface GuardedReading {
  readonly tree: GuardedTree;
  /** Folders it did not get to, because there are too many. */
  readonly beyond: readonly string[];
}

/** A guarded file that is not as it was. */
export interface GuardedChange {
  readonly path: string;
  /** Null where it was not there. */
  readonly before: GuardedEntry | null;
  /** Null where it is gone. */
  readonly after: GuardedEntry | null;
}

/** The guard's own files of a workspace: read before a program is run, compared after it. */
export interface GuardedFiles {
  /** Looks at these paths, and at all others it gets to. */
  read(known: Iterable<string>): Promise<GuardedReading>;
  /** Makes a file what it was and keeps what was found. Entries are those that `read` gave. Throws where it cannot. */
  putBack(change: GuardedChange): Promise<void>;
}
