/** Search over the project's documentation. */
export interface Standards {
  search(query: StandardsQuery): Promise<StandardsAnswer>;
  /** Brings the index up to date; `rebuild` makes it anew. */
  sync(options: { readonly rebuild: boolean }): Promise<IndexReport>;
  /** Globs of the documents that are looked through. */
  served(): Promise<readonly string[]>;
  /** What a human accepts of the documents; absent where none are kept. */
  readonly acceptance?: {
    /** Documents that are not as a human last accepted them; all, where nobody has. */
    changed(): Promise<readonly string[]>;
    /** Accepts them as they were when `changed` last looked; as they are, where it never did. */
    accept(): Promise<void>;
  };
  close(): Promise<void>;
}

/** What is looked for. */
export interface StandardsQuery {
  readonly query: string;
  /** Synonyms and names the answer would use. */
  readonly terms?: readonly string[];
  readonly limit?: number;
  readonly phase?: number;
  readonly tags?: readonly string[];
  /** Only documents of this workflow (front matter `workflow`, or the folder's name). */
  readonly workflow?: string;
}

/** What was found. */
export interface StandardsAnswer {
  readonly results: readonly StandardsResult[];
  readonly totalTokens: number;
  readonly retrievalMethod: string;
  readonly queryTimeMs: number;
  readonly lowConfidence: boolean;
  readonly hint?: string;
}

/** One passage. */
export interface StandardsResult {
  readonly content: string;
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly section: string;
  readonly relevanceScore: number;
  readonly tokens: number;
  readonly tags: readonly string[];
  readonly phase: number | null;
  /** The file is not as a human last accepted it; absent where it is, or nobody has accepted any. */
  readonly changedSinceAccepted?: true;
}

/** What indexing did. */
export interface IndexReport {
  readonly files: number;
  readonly chunks: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly bytes: number;
  /** What could not be read as it was meant. */
  readonly warnings?: readonly IndexWarning[];
}

/** One document that was not, or not wholly, understood. */
export interface IndexWarning {
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}
