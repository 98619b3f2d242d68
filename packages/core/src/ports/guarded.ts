/** One of the guard's own files as it stood. */
export interface GuardedEntry {
  /** `other` is what has no content to be kept: a pipe, a socket, a place with too much in it. */
  readonly kind: 'file' | 'link' | 'other';
  /** SHA-256 of the content, the target of a link, or what else it is. */
  readonly digest: string;
  /** Of a file: who may do what with it. Left out in what was kept before it counted. */
  readonly mode?: number;
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

/** What the guard's own files have to be, as it is kept between processes. */
export interface GuardedMeasure {
  readonly files: Readonly<Record<string, GuardedEntry>>;
  readonly beyond: readonly string[];
}

/** A guarded file that changed while no process looked, and that no human has accepted since. */
export interface GuardedCard {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** Over the path and what stands there: what a human accepts. */
  readonly hash: string;
}

/** The guard's own files of a workspace: read before a program is run, compared after it. */
export interface GuardedFiles {
  /** Looks at these paths, and at all others it gets to. */
  read(known: Iterable<string>): Promise<GuardedReading>;
  /** What was kept last; null where nothing ever was. What somebody else wrote in its place is an empty measure. */
  measure(): Promise<GuardedMeasure | null>;
  keepMeasure(measure: GuardedMeasure): Promise<void>;
  /** Makes a file what it was and keeps what was found. Entries are those that `read` gave. Throws where it cannot. */
  putBack(change: GuardedChange): Promise<void>;
}
