import type { Json } from '../json.ts';
import type { PhaseDraft } from '../model/draft.ts';
import type { PhaseId } from '../model/workflow.ts';

/**
 * How the files of a definition are read, one way for every format: within the project and its limits, each part with
 * its place, and the keys of a phase by the rules of the contract.
 */
export interface DefinitionReader {
  /** Reads a file as text; `path` is relative to `root`, and one that leaves it is refused. */
  source(root: string, path: string): Promise<DefinitionSource>;
  /** Reads a text as YAML, of which JSON is a part. */
  tree(file: string, text: string): DefinitionTree;
  /** The keys of a contract's phase that stand in other formats too. */
  readonly phaseKeys: readonly string[];
  /** Whether a key, in either spelling, is one of them. */
  isPhaseKey(key: string): boolean;
}

/** A file's text with the hash of its bytes, or why it is not available. */
export type DefinitionSource =
  | { readonly ok: true; readonly path: string; readonly text: string; readonly sha256: string }
  | {
      readonly ok: false;
      readonly code: 'path_outside' | 'file_unreadable' | 'too_large' | 'nul_byte' | 'not_utf8';
      readonly message: string;
      readonly line: number;
      readonly column: number;
      /** The hash of the bytes, where they could be read. */
      readonly sha256?: string;
    };

/** A place in a file, counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A way through the value of a file, key by key. */
export type DefinitionPath = readonly (string | number)[];

/** Something wrong at a place. */
export interface DefinitionProblem {
  readonly place: Place;
  readonly code: string;
  readonly message: string;
}

/** One file: its value, and where each part of it stands. */
export interface DefinitionTree {
  /** Undefined where the text cannot be read. */
  readonly value: Json | undefined;
  readonly problems: readonly DefinitionProblem[];
  /** The place of the value at a path, or of its key. */
  at(path: DefinitionPath, part?: 'key' | 'value'): Place;
  /** What the map at a path says of a phase in the keys of the contract. */
  phase(path: DefinitionPath, id: PhaseId): PhaseModel;
}

/** What a file says of a phase in the keys of the contract. */
export interface PhaseModel {
  readonly file: string;
  readonly draft: Partial<PhaseDraft>;
  /** Whether it says, with a reason, that nobody approves here. */
  readonly noHuman: boolean;
  readonly problems: readonly DefinitionProblem[];
  /** Where a part of the draft stands, by its path in the phase; null where this file says nothing of it. */
  locate(path: DefinitionPath): Place | null;
}
