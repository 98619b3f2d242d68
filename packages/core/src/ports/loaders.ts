import type { Problem } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Workflow } from '../model/workflow.ts';
import type { DefinitionPath, Place } from './definitions.ts';

/** Turns files into workflows. */
export interface Loader {
  readonly format: 'yaml' | 'typescript' | 'markdown';
  /** Whether a file, by its path relative to the project, may be this loader's. */
  accepts(path: string): boolean;
  /**
   * Reads enough for a listing, without running any code. Null when the file defines no workflow. The answer is kept
   * while the file and what `peeking` was told of stay as they are.
   */
  peek(file: SourceFile, peeking?: Peeking): Promise<Peeked | null>;
  /**
   * Reads, checks and compiles. Never throws for what is wrong with the file: that is in `problems`. Every file is read
   * each time; what was made of the same bytes before may be given again.
   * With `starting` the workflow is made for that very run: a source it names is read now, and kept.
   */
  load(file: SourceFile, starting?: StartingWith): Promise<Loaded>;
}

/** What a run is being started with. */
export interface StartingWith {
  readonly params: JsonObject;
  readonly target: string | null;
}

/** A file of the project. */
export interface SourceFile {
  /** Absolute path of the project's root. */
  readonly root: string;
  /** Relative to the root, with forward slashes. */
  readonly path: string;
}

/** Told what the line of a listing is made from. */
export interface Peeking {
  /** The file was read: SHA-256 of its bytes. */
  read(sha256: string): void;
  /** Whether something lies at another path, relative to the root, and that the answer depends on it. */
  isThere(path: string): boolean;
}

/** What a listing shows. `phases` is null where they are not literal in the source. */
export interface Peeked {
  readonly id: string;
  readonly title: string;
  readonly phases: readonly string[] | null;
  readonly problems: readonly Problem[];
}

/** A compiled workflow, or why there is none; notes may stand beside a workflow. */
export interface Loaded {
  readonly workflow: Workflow | null;
  readonly problems: readonly Problem[];
  /** Every file the workflow was made from: relative path → SHA-256 of its bytes. The closure `trust` is about. */
  readonly files: Readonly<Record<string, string>>;
  /** It is code that no human has accepted: it was read, and not run. */
  readonly unaccepted?: true;
  /** Where the parts of the workflow are written, as they were read for it. */
  readonly places?: SourceMap;
}

/**
 * Where a part of a definition is written, by its path in the draft: `['phases', 0]`, `['params', 'size']`. The nearest
 * place that is known; null where nothing in the files says it.
 */
export type SourceMap = (path: DefinitionPath) => Place | null;
