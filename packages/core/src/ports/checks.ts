import type { Subject } from '../engine/command.ts';
import type { KnownNames } from '../engine/knownNames.ts';
import type { Completion, Frozen } from '../engine/run.ts';
import type { Json, JsonObject } from '../json.ts';
import type { EvidenceClass, PhaseId } from '../model/workflow.ts';
import type { UnlockedHuman } from './humans.ts';
import type { Enclose } from './sandbox.ts';
import type { Signal } from './signal.ts';
import type { Receipt } from './tools.ts';
import type { VerifiedRoom } from './verifying.ts';

/** A check on the shelf. */
export interface CheckImplementation {
  readonly name: string;
  readonly summary: string;
  /** JSON Schema of `with`. */
  readonly parameters: JsonObject;
  /** The best class its answers can have. */
  readonly class: EvidenceClass;
  /** Whether it runs a program: then `verified` is to be had in a room of the engine's own and nowhere else. */
  readonly verifiable?: true;
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
  /** The room of the engine's own that `workspace` is; absent: it is the agent's workspace. */
  readonly room?: Pick<VerifiedRoom, 'path' | 'environment' | 'locate' | 'renew'> & {
    /** The agent's workspace, of which no program is run there. */
    readonly copyOf: string;
  };
  /** What is known of the run's trees and receipts; absent where there is no run yet. */
  readonly record?: RunRecord;
}

/** What a check may ask about a run. */
export interface RunRecord {
  /** Paths that differ from what they were when the phase was entered; null where nobody measured. */
  changed(): Promise<readonly string[] | null>;
  /** What is on record of the newest completion of a phase; null where there is none. */
  completion(phase: PhaseId): Pick<Completion, 'established' | 'made'> | null;
  /** The phase whose newest completion has that artifact; null where none has. */
  madeIn(artifact: string): PhaseId | null;
  /** The receipt of that id, if it was signed by this project for this run; null where there is none. */
  receipt(id: string): Promise<Receipt | null>;
  /** Hash of what the workspace holds, as receipts have it; null where it is not known. */
  readonly state: string | null;
  readonly epoch: number;
  /** The item whose evidence is judged, and whose evidence it is; null where it is that of the whole phase. */
  readonly item: { readonly key: string; readonly agent: string } | null;
}

/** A check's own answer, before the runtime adds class and the author's message. */
export interface CheckAnswer {
  readonly passed: boolean;
  readonly reason: string;
  /** Why it did not pass, where that has a code of its own. */
  readonly code?: 'runner_tampered';
  /** Files that later phases are held to. */
  readonly frozen?: Frozen;
  /** The programs that were run for it, oldest first. */
  readonly ran?: readonly RanProgram[];
}

/** A program that a check ran. */
export interface RanProgram {
  readonly argv: readonly string[];
  /** Real path and SHA-256 of the file that was started; null where it is not known. */
  readonly program: string | null;
  readonly programHash: string | null;
  readonly exitCode: number | null;
  /** SHA-256 of what it printed on standard output. */
  readonly outputHash: string;
  /** It was run with a test that must fail, to see whether its runner can be believed. */
  readonly canary?: true;
  /** What its report says, where there is one. */
  readonly counts?: Readonly<Record<string, number>>;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
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
