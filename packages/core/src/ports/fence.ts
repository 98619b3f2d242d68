import type { TreeChange } from '../engine/run.ts';

/** A path of the workspace that is not as it was, as the fence found it. */
export interface FenceChange extends Pick<TreeChange, 'path' | 'how'> {
  /** It is on record and refuses nothing: a guarded file that was written and put back, a setting that starts nothing. */
  readonly noticed?: boolean;
  /** Other names of the same file; null for one that is outside of the workspace. */
  readonly names?: readonly (string | null)[];
  /** SHA-256 of what stands there now; null where that is not a file, or nothing. */
  readonly content: string | null;
  /** Who may do what with what stands there now. */
  readonly mode: number | null;
  /** When it last changed, in milliseconds since the epoch; null where it is gone. */
  readonly at: number | null;
}

/** What came of comparing a workspace with what it was. */
export type Compared =
  | {
      readonly ok: true;
      /** The measure that was taken for it. */
      readonly tree: string;
      readonly changes: readonly FenceChange[];
      /** What could not be taken into account, in words. */
      readonly notes: readonly string[];
    }
  /** There is nothing to compare with. */
  | { readonly ok: false; readonly reason: string };

/** What a human does about changed paths. */
export interface FenceFiles {
  /** What became of each path, in words. */
  readonly done: readonly { readonly path: string; readonly what: string }[];
}

/**
 * Measures the workspace and compares it with what it was. A measure is known by its hash, is kept for a run until that
 * ends, and is never trusted without the hash.
 */
export interface Fence {
  /** Measures the workspace for a run. Ignore rules are those of the measure `like`, else those that stand there now. */
  measure(runId: string, like?: string): Promise<string>;
  compare(runId: string, tree: string): Promise<Compared>;
  /** What changed since a measure was taken a moment ago. Nothing is kept of it. */
  moved(runId: string, tree: string): Promise<readonly FenceChange[]>;
  /** A measure in which these paths are as they are now. */
  accept(runId: string, tree: string, paths: readonly string[]): Promise<string>;
  /** Makes paths what they were in the measure. */
  restore(runId: string, tree: string, paths: readonly string[]): Promise<FenceFiles>;
  /** Moves paths out of the workspace. */
  quarantine(runId: string, paths: readonly string[]): Promise<FenceFiles>;
  /** How paths differ from the measure, as text. */
  diff(runId: string, tree: string, paths: readonly string[]): Promise<string>;
  /** The run has these measures now, or none any more: all others of it are dropped. */
  settle(runId: string, trees: readonly string[]): Promise<void>;
}
