import type { Subject } from '../engine/command.ts';
import type { KnownNames } from '../engine/knownNames.ts';
import type { Json, JsonObject } from '../json.ts';
import type { EvidenceClass } from '../model/workflow.ts';
import type { UnlockedHuman } from './humans.ts';
import type { Enclose } from './sandbox.ts';
import type { Signal } from './signal.ts';

/** A check on the shelf. */
export interface CheckImplementation {
  readonly name: string;
  readonly summary: string;
  /** JSON Schema of `with`. */
  readonly parameters: JsonObject;
  readonly class: EvidenceClass;
  /** Keys of `with` that hold a condition; `defineWorkflow` parses them. */
  readonly conditions?: readonly string[];
  /**
   * What its answer depends on beside `with`: nothing but the subject, so that it can be asked again later; or nothing
   * but the workspace. Absent: both, so that an answer serves for the very same subject and moment only.
   */
  readonly reads?: 'subject' | 'workspace';
  /** May throw or hang: the runtime turns both into a refusal. */
  run(input: CheckInput): Promise<CheckAnswer>;
}

/** What a check is given. */
export interface CheckInput {
  readonly with: JsonObject;
  readonly subject: Subject;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  readonly signal: Signal;
  /** Programs are run in this sandbox; absent: in none. */
  readonly enclose?: Enclose;
}

/** A check's own answer, before the runtime adds class and the author's message. */
export interface CheckAnswer {
  readonly passed: boolean;
  readonly reason: string;
}

/** Calls functions of TypeScript workflows, in a process of their own that has no keys. */
export interface Functions {
  call(request: FunctionCall): Promise<FunctionAnswer>;
  close(): Promise<void>;
}

/** Asked before any code of a workflow is run. */
export interface CodeGate {
  /** Why this code may not be run; null where it may. */
  refusal(code: AskedCode): Promise<string | null>;
  /**
   * A human lets this one process run files nobody accepted; nothing of that is kept, and no run starts by it. `tell`
   * hears of every closure that is run so.
   */
  letIn(human: UnlockedHuman, tell: (closure: string) => void): void;
}

/** Code that is about to be run. */
export interface AskedCode {
  /** Id of the workflow, as far as it can be read; else the name of its file. */
  readonly workflow: string;
  /** Path → SHA-256 of every file of it. */
  readonly files: Readonly<Record<string, string>>;
}

/** One call. `file` is the module, `code` the hash it must still have. */
export interface FunctionCall {
  readonly file: string;
  readonly code: string;
  readonly ref: string;
  readonly context: JsonObject;
  /** The names that may be read though nothing is there yet. */
  readonly known?: KnownNames;
  readonly timeoutMs: number;
  /** To be held by a sandbox, also where the project does not ask for it. */
  readonly held?: true;
  /** What `ctx.db` opens; absent where the workflow has no database. */
  readonly database?: { readonly file: string; readonly writable: boolean };
}

/** What a function returned, or how it failed. */
export type FunctionAnswer =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly kind: 'threw' | 'timed_out' | 'code_changed' | 'unknown_function' | 'untrusted';
      readonly reason: string;
      /** Where in which file (absolute) it failed, where that is known. */
      readonly at?: { readonly file: string; readonly line: number; readonly column: number };
    };
