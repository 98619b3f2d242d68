import type { UnlockedHuman } from '@phasegate/core/ports';

/** What stands at a path: the mode git gives it and the SHA-256 of its content. */
export interface FileContent {
  /** `100644`, `100755`, `120000` for a link, `160000` for a submodule. */
  readonly mode: string;
  readonly sha256: string;
}

/** A path that a range of commits changed. */
export interface RangeChange {
  /** From the top of the repository. */
  readonly path: string;
  /** What stands there at the end; null where it is gone. */
  readonly now: FileContent | null;
  /** Why nobody can have ended with it, whatever it is. */
  readonly problem?: string;
  /** The commits of the range that touched it, newest first. */
  readonly commits: readonly string[];
}

/** A commit of a range, with the paths whose content it has from none of its parents. */
export interface RangeCommit {
  readonly id: string;
  readonly author: string;
  readonly subject: string;
  readonly changes: readonly RangeChange[];
}

/** A range of commits as git has it. */
export interface CommitRange {
  /** As it was asked for. */
  readonly words: string;
  readonly base: string;
  readonly head: string;
  /** What the end is compared with: the base, or where the two histories met last. */
  readonly from: readonly string[];
  /** The folder of the project below the top of the repository, with `/` at its end; empty where it is the top. */
  readonly prefix: string;
  readonly changes: readonly RangeChange[];
  /** How many commits the range has. */
  readonly count: number;
  /** Newest first; only where each of them is to be judged, or something is to be told of them. */
  readonly commits: readonly RangeCommit[];
}

/** A content that a phase ended with, or that a human accepted in a run. */
export interface KnownEnd {
  /** From the folder of the project. */
  readonly path: string;
  /** Null where the path was removed. */
  readonly now: FileContent | null;
  readonly run: string;
  readonly workflow: string;
  readonly phase: string;
  readonly at: string;
  /** The human who accepted it though no phase may write it. */
  readonly acceptedBy?: string;
  /** Whether the run reached its end. */
  readonly completed: boolean;
}

/** What a human signed about contents that no phase ended with. */
export interface Attestation {
  readonly human: string;
  /** The text that was signed. */
  readonly text: string;
  readonly signature: string;
}

/** All that is known about contents: from the audit, or from a bundle that was made of it. */
export interface KnownContents {
  /** Where the project lies in its repository; absent where the range says it. */
  readonly prefix?: string;
  readonly ends: readonly KnownEnd[];
  readonly attestations: readonly Attestation[];
  /** Paths that phases changed before contents were recorded, or of workflows that no human had accepted. */
  readonly uncounted: readonly Uncounted[];
}

/** A change of a phase that proves nothing, and why. */
export interface Uncounted {
  readonly path: string;
  readonly run: string;
  readonly phase: string;
  readonly why: 'older' | 'not_accepted' | 'not_passed';
}

/** Public keys that are believed: Ed25519, SPKI in DER, base64url. */
export interface PinnedKeys {
  readonly project: readonly string[];
  readonly humans: readonly { readonly name: string; readonly key: string }[];
}

/** How strictly a range is judged. */
export interface RangeRules {
  /** Only phases of runs that reached their end count. */
  readonly completed: boolean;
  /** Only the newest content that is known of a path counts. */
  readonly newest: boolean;
}

/** What was found about one path. */
export interface JudgedFile {
  readonly path: string;
  readonly change: 'written' | 'removed';
  readonly verdict: 'phase' | 'accepted' | 'attested' | 'outside';
  /** The content of a file; null where it is gone or cannot be read. */
  readonly now: FileContent | null;
  readonly run?: string;
  readonly workflow?: string;
  readonly phase?: string;
  readonly at?: string;
  /** Who accepted or attested it. */
  readonly human?: string;
  /** Why it is outside, or what should be known though it is not. */
  readonly reason?: string;
  readonly commits: readonly string[];
}

/** What was found about a range. */
export interface RangeReport {
  readonly ok: boolean;
  readonly base: string;
  readonly head: string;
  readonly from: readonly string[];
  readonly commits: number;
  readonly files: readonly JudgedFile[];
  /** Where each commit is judged: what is outside in one of them. */
  readonly history: readonly (JudgedFile & { readonly commit: string })[];
  /** The commits that are named. */
  readonly named: readonly Pick<RangeCommit, 'id' | 'author' | 'subject'>[];
}

/** Reads and judges ranges of commits; needs no state of a project. */
export interface Ranges {
  read(words: string, how: { readonly eachCommit: boolean }): Promise<CommitRange>;
  judge(
    range: CommitRange,
    by: { readonly known: KnownContents; readonly keys: PinnedKeys; readonly rules: RangeRules },
  ): Promise<RangeReport>;
  /** The bundle of what is known about the paths of a range, signed. */
  writeBundle(
    known: KnownContents,
    by: { readonly range: CommitRange | null; readonly records: Pick<RangeRecords, 'keys' | 'sign'> },
  ): Promise<string>;
  /** What bundles say, each where one of the pinned keys signed it, with what is known beside them. */
  readBundles(files: readonly string[], keys: PinnedKeys, beside?: KnownContents): Promise<KnownContents>;
  /** Reads keys as `writePins` wrote them. */
  readPins(texts: readonly string[]): Promise<PinnedKeys>;
  writePins(keys: PinnedKeys): Promise<readonly string[]>;
  /** Signs what is outside, with a human's key; records it. */
  attest(
    files: readonly JudgedFile[],
    by: {
      readonly range: CommitRange;
      readonly reason: string;
      readonly human: UnlockedHuman;
      readonly records: RangeRecords;
    },
  ): Promise<void>;
}

/** What the audit knows about contents, and who signs for it. */
export interface RangeRecords {
  /** Read from the audit as it was verified. Throws `audit_broken` where it does not hold: what it says proves nothing. */
  established(): Promise<{ readonly known: KnownContents; readonly keys: PinnedKeys }>;
  /** The project's public key and those of its humans. */
  keys(): Promise<PinnedKeys>;
  sign(text: string): Promise<string>;
  attest(attestation: Attestation, files: number): Promise<void>;
}
