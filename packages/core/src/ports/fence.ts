import type { FenceAction } from '../engine/command.ts';
import type { FenceAct, TreeChange } from '../engine/run.ts';
import type { PhaseId, Ring } from '../model/workflow.ts';

/** A path of the workspace that is not as it was, as the fence found it. */
export interface FenceChange extends Pick<TreeChange, 'path' | 'how'> {
  /** It is on record and refuses nothing: a guarded file that was written and put back, a setting that starts nothing. */
  readonly noticed?: boolean;
  /** All names of the file where it has several, its own among them; null stands for those outside of the workspace. One list for all of them. */
  readonly names?: readonly (string | null)[];
  /** SHA-256 of what stands there now; null where that is not a file, or nothing. */
  readonly content: string | null;
  /** Of a link: where it leads, as it is written. */
  readonly link?: string;
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
      /** Hash of what the workspace holds, as receipts have it; absent where it is too large. */
      readonly state?: string;
      /** What could not be taken into account, in words. */
      readonly notes: readonly string[];
    }
  /** There is nothing to compare with. */
  | { readonly ok: false; readonly reason: string };

/** A comparison of which nothing is kept. */
export type Surveyed =
  | Omit<Extract<Compared, { readonly ok: true }>, 'tree' | 'state'>
  | Extract<Compared, { readonly ok: false }>;

/** What a path held when it was measured. */
export interface MeasuredFile {
  readonly type: 'file' | 'link' | 'other' | 'closed';
  /** SHA-256 of a file's content, the text of a link; empty for anything else. */
  readonly content: string;
  /** In bytes. */
  readonly size: number;
  /** Permissions of a file, in octal digits. */
  readonly mode?: string;
}

/** A path that differs between two measures. */
export interface MeasuredChange extends Pick<TreeChange, 'path' | 'how'> {
  readonly before: MeasuredFile | null;
  readonly after: MeasuredFile | null;
}

/** What a human does about changed paths. */
export interface FenceFiles {
  /** What became of each path, in words. */
  readonly done: readonly { readonly path: string; readonly what: string }[];
}

/** What became of the measures of a run that was saved. */
export interface SettledMeasures {
  readonly had: readonly string[];
  readonly has: readonly string[];
  /** The measures of all runs that are not over; asked for once in many times. */
  inUse(): Promise<ReadonlySet<string>>;
}

/** What came of writing a measure into a folder. */
export type Materialised =
  | { readonly ok: true; readonly state: string; readonly paths: ReadonlySet<string> }
  | { readonly ok: false; readonly reason: string };

/**
 * Measures the workspace and compares it with what it was. A measure is known by its hash and never trusted without it.
 * It is on disk once it was kept, until no run has it: a run is saved only after `keep`. Until then it is this
 * process's, for the run it was taken for, until that is released.
 */
export interface Fence {
  /** Measures the workspace for a run. Ignore rules are those of the measure `like`, else those that stand there now. */
  measure(runId: string, like?: string): Promise<string>;
  compare(runId: string, tree: string): Promise<Compared>;
  /** The same for those who only want to see it: nothing is kept of it. */
  survey(runId: string, tree: string): Promise<Surveyed>;
  /** What changed since a measure was taken a moment ago. Nothing is kept of it. */
  moved(runId: string, tree: string): Promise<readonly FenceChange[]>;
  /**
   * Hash of what the workspace holds now: paths, kinds, permissions and contents, by the rules of a measure. Null where it
   * cannot be read, or is too large to be read at every call.
   */
  state(runId: string, tree: string): Promise<string | null>;
  /** A new measure, by the ignore rules that stand there now, and the hash of all that it has, at any size. */
  standing(runId: string): Promise<{ readonly tree: string; readonly state: string }>;
  /** The measure `tree`, in which these paths are as they are in the measure `seen`: what a comparison was made from. */
  accept(
    runId: string,
    measures: { readonly tree: string; readonly seen: string },
    paths: readonly string[],
  ): Promise<string>;
  /**
   * Writes what a measure holds into an empty folder, from the engine's own store. Gives the hash of what it holds and the
   * paths that were written, or those whose content was not kept.
   */
  materialise(runId: string, tree: string, into: string): Promise<Materialised>;
  /** The run is about to be saved with these measures: they are on disk when this ends. */
  keep(runId: string, trees: readonly string[]): Promise<void>;
  /** No command of that run is under way: measures that were taken for it, and not kept, are forgotten. */
  release(runId: string): Promise<void>;
  /** Makes paths what they were in the measure. */
  restore(runId: string, tree: string, paths: readonly string[]): Promise<FenceFiles>;
  /** Moves paths out of the workspace. */
  quarantine(runId: string, paths: readonly string[]): Promise<FenceFiles>;
  /** What differs between two measures, whatever stands in the workspace now; or why that cannot be told. */
  between(
    runId: string,
    measures: { readonly from: string; readonly to: string },
  ): Promise<readonly MeasuredChange[] | string>;
  /** What a file held when it was measured; null where it was not kept, or is not what it was. */
  contentOf(content: string): Promise<Uint8Array | null>;
  /** How paths differ from the measure, as text. */
  diff(runId: string, tree: string, paths: readonly string[]): Promise<string>;
  /** The run was saved, or could not be: measures that it does not have any more are dropped. */
  settle(runId: string, measures: SettledMeasures): Promise<void>;
}

/** How the workspace differs from what it was when a run's phase was entered. */
export interface FenceReport {
  readonly run: string;
  readonly phase: PhaseId;
  readonly ring: Ring;
  /** The phase's write scope. */
  readonly writes: readonly string[];
  /** Hash of the measure it is compared with; null where the phase was entered without one. */
  readonly tree: string | null;
  /** Why nothing can be compared; null where it can. */
  readonly problem: string | null;
  /**
   * Hash of all that is outside or noticed, with what stands there now; where nothing can be compared, of the whole
   * workspace. A human's order names it. Null where the workspace cannot be measured either.
   */
  readonly shown: string | null;
  readonly outside: readonly TreeChange[];
  /** How many more are outside; where there are very many, a few of every folder are told. */
  readonly more: number;
  /** What is on record and refuses nothing. */
  readonly noticed: readonly TreeChange[];
  /** How many paths changed inside the scope. */
  readonly inside: number;
  /** What could not be taken into account, in words. */
  readonly notes: readonly string[];
  /** What humans did about it so far, in the whole run. */
  readonly settled: readonly FenceAct[];
}

/** What a human wants done. */
export interface FenceOrder {
  readonly action: FenceAction;
  /** Paths, or folders with all that changed in them; `all` for a new measure of everything. */
  readonly paths: readonly string[] | 'all';
  readonly reason: string;
  /** Hash of the report it is about: where the workspace is another one by now, nothing is done. */
  readonly shown: string;
}
