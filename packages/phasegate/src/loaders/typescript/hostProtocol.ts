import type { Json, JsonObject, WorkflowDraft } from '@phasegate/core';
import type { KnownNames } from '@phasegate/core/engine';
import type { DraftProblem } from '@phasegate/core/model';

/** What the engine asks of the process that runs a workflow's code. */
export type HostRequest =
  | { readonly id: number; readonly kind: 'open'; readonly opening: Opening }
  | {
      readonly id: number;
      readonly kind: 'call';
      readonly ref: string;
      readonly context: JsonObject;
      readonly known?: KnownNames;
      /** What `ctx.db` opens; absent where there is none. */
      readonly database?: { readonly file: string; readonly writable: boolean };
    };

/** One file of a closure as it is run. */
export interface SealedModule {
  readonly format: 'module' | 'commonjs' | 'json';
  /** Without types. */
  readonly source: string;
  /** `import:` or `require:` and the name as it is written → where the file is that it means. */
  readonly links: Readonly<Record<string, string>>;
}

/** Which module to load, and all it may be made of. */
export interface Opening {
  /** Real path of the project's root. */
  readonly root: string;
  /** Where the module is. */
  readonly module: string;
  /** Every file of the closure by where it is, under the name it is imported by. */
  readonly modules: Readonly<Record<string, SealedModule>>;
}

/** What that process answers. */
export type HostAnswer =
  | { readonly id: number; readonly ok: true; readonly value: Json }
  | { readonly id: number; readonly ok: false; readonly failure: HostFailure };

/** Why there is no answer. */
export interface HostFailure {
  readonly kind: 'threw' | 'timed_out' | 'code_changed' | 'unknown_function';
  readonly reason: string;
  /** Where in which file, as far as the stack says. */
  readonly at?: { readonly file: string; readonly line: number; readonly column: number };
}

/**
 * What is ours, by the name it is imported under, and the source behind it: always the engine's own copy, as one found
 * in the project may have been put there by an agent.
 */
export const OUR_ENTRIES: Readonly<Record<string, string>> = {
  '@phasegate/sdk': 'sdk/src/index.ts',
  '@phasegate/core': 'core/src/index.ts',
  '@phasegate/core/contract': 'core/src/contract.ts',
  '@phasegate/core/engine': 'core/src/engine.ts',
  '@phasegate/core/model': 'core/src/model.ts',
  '@phasegate/core/ports': 'core/src/ports.ts',
};

/** Parts of Node that load files by themselves, past what was hashed. */
export const LOADS_BY_ITSELF = /^(?:node:)?(?:worker_threads|cluster)$/;

/** Asks for the workflow itself instead of one of its functions, whose names all start with `steps/` or `gates/`. */
export const DESCRIBE = 'describe';

/** A workflow as its module defines it, without its functions. */
export interface Described {
  readonly draft: WorkflowDraft;
  readonly problems: readonly DraftProblem[];
  /** How many functions it has. */
  readonly functions: number;
  /** Whether loading it printed to stdout. */
  readonly printed: boolean;
}

/** No answer of a function is larger than this. */
export const MAX_ANSWER_BYTES = 1_048_576;
