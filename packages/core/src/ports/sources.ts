/** Reads one kind of source (a `tasks.md`, say) into phases and tasks. */
export interface SourceParser {
  /** The name a workflow calls it by: `spec_tasks_parser`. */
  readonly name: string;
  /**
   * Reads a file or folder of the project. `path` is relative to `root`, or absolute and beneath it.
   * Throws `source_parse_failed`, `path_outside`, `file_unreadable` or `too_large`.
   */
  parse(root: string, path: string): Promise<ParsedSource>;
}

/** The parsers of a project by name; a further one is registered, nothing else changes. */
export interface SourceParsers {
  get(name: string): SourceParser | undefined;
  /** Throws `usage` when the name is taken. */
  register(parser: SourceParser): void;
  names(): readonly string[];
}

/** What a parser understood, and what it did not. */
export interface ParsedSource {
  readonly phases: readonly SourcePhase[];
  readonly warnings: readonly SourceWarning[];
  /** The files it was read from: path relative to the project → SHA-256 of the bytes. Absent for bare text. */
  readonly files?: Readonly<Record<string, string>>;
}

/** One phase, in the words of the source. */
export interface SourcePhase {
  /** As written: `0`, `1`, `1A`; the position where the source gives none. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly estimatedDuration: string;
  readonly tasks: readonly SourceTask[];
  readonly validationGate: readonly SourceCriterion[];
}

/** One task, in the words of the source. */
export interface SourceTask {
  /** As written: `1.1`, `TASK-001`, `P1-T2a`; phase id and position where the source gives none. */
  readonly id: string;
  readonly name: string;
  /** Everything the task says that has no field of its own. Boxes in it are plain bullets. */
  readonly description: string;
  readonly estimatedTime: string;
  /** Ids of tasks as they are defined, and `Phase N`. */
  readonly dependencies: readonly string[];
  /** What the source says about dependencies beyond ids, in its own words. */
  readonly dependencyNotes?: string;
  readonly acceptanceCriteria: readonly SourceCriterion[];
  readonly status: SourceStatus;
}

/** A criterion and whether its box is ticked. */
export interface SourceCriterion {
  readonly text: string;
  readonly checked: boolean;
}

/** How far the source says a task is. */
export type SourceStatus = 'pending' | 'in_progress' | 'completed' | 'blocked' | 'deferred' | 'skipped';

/** Something in the source that was not understood or looks wrong. Lines count from 1. */
export interface SourceWarning {
  readonly line: number;
  readonly message: string;
}
