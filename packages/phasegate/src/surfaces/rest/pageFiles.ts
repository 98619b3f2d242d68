/** The built pages, as they are given out. */
export interface PageFiles {
  /** The page that everything else is loaded by. */
  readonly index: string;
  /** What it needs, by the name below `assets/` of a session's path. */
  readonly files: ReadonlyMap<string, PageFile>;
}

/** A file that the page needs. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** The same, smaller; null where that saves nothing. */
  readonly gzipped: Uint8Array<ArrayBuffer> | null;
}
