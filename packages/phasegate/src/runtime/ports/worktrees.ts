/** Git worktrees that runs have to themselves. */
export interface Worktrees {
  /**
   * Makes one of the last commit, on a branch of its own, and lets it share the project's state for one new run.
   * Throws `worktree_failed`, and then nothing is there.
   */
  make(root: string): Promise<MadeWorktree>;
  list(root: string): Promise<readonly RunWorktree[]>;
  /** Removes one in which nothing is uncommitted, and its branch where another has its commits. */
  remove(root: string, run: string): Promise<RemovedWorktree>;
}

/** A worktree that a run is started in next. */
export interface MadeWorktree {
  readonly folder: string;
  readonly branch: string;
  /** Takes it away again, where no run came of it. */
  undo(): Promise<void>;
}

/** The worktree of a run. */
export interface RunWorktree {
  readonly folder: string;
  readonly branch: string;
  readonly run: string;
}

/** A worktree that is gone. */
export interface RemovedWorktree {
  readonly folder: string;
  readonly branch: string;
  /** Its commits are in no other branch, so it was kept. */
  readonly branchKept: boolean;
}
