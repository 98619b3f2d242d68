import type { GuardedCard, ServerCard, TrustRecord, UnlockedHuman } from '@phasegate/core/ports';

/** What humans accept of a project. Every acceptance is signed, and is for what was shown. */
export interface Trust {
  readonly workflows: {
    /** What would be accepted, with the difference to what was accepted last. */
    card(name: string): Promise<TrustCard>;
    accept(name: string, closure: string, human: UnlockedHuman): Promise<TrustRecord>;
    /** What a file of a card says now and said when it was last accepted; throws where it is not what the card holds. */
    texts(file: TrustCard['files'][number]): Promise<FileTexts>;
    /** Files that are not as a human last accepted them, without running anything; null where none was accepted. */
    differing(workflow: string): Promise<readonly DifferingFile[] | null>;
  };
  readonly servers: {
    /** The servers of the config, and whether a human accepted each as it is now. */
    cards(): Promise<readonly ServerCard[]>;
    accept(name: string, hash: string, human: UnlockedHuman): Promise<TrustRecord>;
  };
  readonly guarded: {
    /** Guarded files that changed while no process looked; with a human set up, no program is run before they are accepted. */
    cards(): Promise<readonly GuardedCard[]>;
    /** What the file of a card says now, and said when it was last accepted; throws where it is not what the card holds. */
    texts(card: Pick<GuardedCard, 'path' | 'hash'>): Promise<FileTexts>;
    accept(path: string, hash: string, human: UnlockedHuman): Promise<TrustRecord>;
  };
  readonly folders: {
    /** Whether a folder of the project may be entered as a project of its own, by its path from the root. */
    mayEnter(folder: string): Promise<boolean>;
    acceptNested(folder: string, human: UnlockedHuman): Promise<TrustRecord>;
    /** Lets a git worktree of the project, by its absolute path, share the project's state. */
    acceptWorktree(folder: string, human: UnlockedHuman): Promise<TrustRecord>;
  };
}

/** What a human is asked to accept. */
export interface TrustCard {
  readonly workflow: string;
  readonly path: string;
  readonly closure: string;
  readonly trusted: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly change: 'added' | 'changed' | 'removed' | 'same';
    /** Null where it was removed. */
    readonly sha256: string | null;
    /** As it was last accepted; null where it was not. */
    readonly accepted: string | null;
  }[];
}

/** A file of an accepted workflow that is not as it was accepted. */
export interface DifferingFile {
  readonly path: string;
  readonly change: 'changed' | 'removed' | 'unreadable';
  /** Why it cannot be compared, where it is unreadable. */
  readonly reason?: string;
}

/** A file as it was accepted and as it is now. */
export interface FileTexts {
  readonly before: string | null;
  readonly after: string | null;
  /** Why one of them cannot be shown; null where both are there. */
  readonly missing: string | null;
}

/** The files of workflows, and copies of what humans accepted. */
export interface AcceptedFiles {
  now(path: string): Promise<FileNow>;
  /** What was accepted under this SHA-256; null where no copy of it is kept. */
  kept(sha256: string): Promise<Uint8Array | null>;
  /** Keeps copies of files (path to SHA-256) that are still so. */
  keep(files: Readonly<Record<string, string>>): Promise<void>;
}

/** A file of the project as it is now. */
export type FileNow =
  | { readonly kind: 'file'; readonly sha256: string; readonly content: Uint8Array }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };
