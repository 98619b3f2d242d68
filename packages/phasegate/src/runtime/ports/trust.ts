import type { GuardedCard, ServerCard, TrustRecord, UnlockedHuman } from '@phasegate/core/ports';

/** What humans accept of a project. Every acceptance is signed, and is for what was shown. */
export interface Trust {
  readonly workflows: {
    /** What would be accepted, with the difference to what was accepted last. */
    card(name: string): Promise<TrustCard>;
    accept(name: string, closure: string, human: UnlockedHuman): Promise<TrustRecord>;
  };
  readonly servers: {
    /** The servers of the config, and whether a human accepted each as it is now. */
    cards(): Promise<readonly ServerCard[]>;
    accept(name: string, hash: string, human: UnlockedHuman): Promise<TrustRecord>;
  };
  readonly guarded: {
    /** Guarded files that changed while no process looked; with a human set up, no program is run before they are accepted. */
    cards(): Promise<readonly GuardedCard[]>;
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
  }[];
}
