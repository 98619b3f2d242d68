import type { Verdict } from '../engine/verdict.ts';
import type { Json, JsonObject } from '../json.ts';
import type { EvidenceClass } from '../model/workflow.ts';
import type { Admitted } from './leases.ts';
import type { Enclose } from './sandbox.ts';
import type { Signal } from './signal.ts';

/** Something an agent can have done through the gate. */
export interface ToolImplementation {
  /** A contract tool, or `mcp:SERVER/TOOL` for any other. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly input: JsonObject;
  /**
   * The input as the engine is to judge it, where that is not the input itself: every path the call would touch,
   * under `path` or `paths`. Asked with inputs that may lack what the schema requires.
   */
  judged?(input: JsonObject, workspace: string): JsonObject;
  /** Does it. A failure of the thing itself is a result that is not `ok`; throwing is a fault. */
  run(input: JsonObject, context: ToolContext): Promise<ToolResult>;
}

/** What a tool may know of its call. */
export interface ToolContext {
  /** Real path of the run's workspace. */
  readonly workspace: string;
  /** Who calls, for what is shared out by agent. */
  readonly agent?: string;
  /** Whether the phase may write this path, relative to the workspace; tools that write ask again on the real path. */
  mayWrite(path: string): boolean;
  /** Whether the phase's constraints on this tool let it show this path; tools that search ask for each file. */
  mayRead(path: string): boolean;
  /** Aborted when the time is up, the phase ends or the server stops. */
  readonly signal: Signal;
  /** What programs that are started for the call must have in their environment: what they ask for is known by it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Programs are run in this sandbox; absent: in none. */
  readonly enclose?: Enclose;
}

/** What came of a tool. */
export interface ToolResult {
  readonly ok: boolean;
  readonly output: Json;
  /** Of a command. */
  readonly exitCode?: number | null;
}

/** One call an agent asks for. */
export interface ToolCallRequest {
  readonly tool: string;
  readonly input: JsonObject;
}

/** What came of a call: refused, or carried out with its receipt. */
export interface ExecutedCall {
  readonly verdict: Verdict;
  /** Null where the verdict refuses. */
  readonly result: ToolResult | null;
  readonly receipt: Receipt | null;
}

/**
 * Signed record of something the engine ran. The signature is over the canonical JSON of all other fields, so they keep
 * their spelling, unlike other values of core (ADR 26).
 */
export interface Receipt {
  readonly id: string;
  readonly run: string;
  readonly phase: string | number;
  readonly epoch: number;
  readonly agent: string;
  /** The item that the agent's token was for; absent where it was for the whole phase. */
  readonly item?: string;
  readonly tool: string;
  /** SHA-256 of the canonical JSON of the input. */
  readonly input_hash: string;
  /** SHA-256 of the canonical JSON of the output. */
  readonly output_hash: string;
  readonly ok: boolean;
  readonly exit_code: number | null;
  /**
   * Hash of what the workspace held when a program had run: paths, kinds, permissions and contents. Null for a tool that
   * runs no program, in a workspace that is too large, and where there is none.
   */
  readonly tree: string | null;
  /** The same before it ran; absent where there is none. */
  readonly tree_before?: string;
  /** Of `phasegate exec` and of checks: the words, masked, and the file that was started. */
  readonly argv?: readonly string[];
  readonly program?: string;
  /** SHA-256 of that file. */
  readonly program_hash?: string;
  /** Of a check: what it is called, and the class of what it established. */
  readonly check?: string;
  readonly class?: EvidenceClass;
  /** Hash of the frozen dependencies it ran with; absent: none of the engine's own. */
  readonly dependencies?: string;
  /** It was run with a test that must fail, so that tests that fail are what is wanted of it. */
  readonly canary?: true;
  /** What the report of tests says. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly started_at: string;
  readonly ended_at: string;
  readonly signature: string;
}

/** Tools behind the gate: every call judged, recorded, and only then carried out. */
export interface Toolbox {
  /** The verdict on one call, on disk before it is given. */
  check(admitted: Admitted, call: ToolCallRequest): Promise<Verdict>;
  /** Judges and carries out, one after the other; the calls after a refused one are judged all the same. */
  execute(admitted: Admitted, calls: readonly ToolCallRequest[]): Promise<readonly ExecutedCall[]>;
  /** Everything that can be carried out here, attached servers' tools included. */
  tools(): Promise<readonly Omit<ToolImplementation, 'run' | 'judged'>[]>;
  /** Adds a tool of the embedder's own; its name is `mcp:SERVER/TOOL`. */
  register(tool: ToolImplementation): void;
}
