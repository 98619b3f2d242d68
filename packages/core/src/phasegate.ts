import type { Command } from './engine/command.ts';
import type { Goal } from './engine/goal.ts';
import type { ToolUse } from './engine/judgeTool.ts';
import type { CommandOutcome } from './engine/outcome.ts';
import type { Run } from './engine/run.ts';
import type { Verdict } from './engine/verdict.ts';
import type { PhaseAnswer, RunView, WorkflowOverview } from './engine/viewFor.ts';
import type { Json, JsonObject } from './json.ts';
import type { PhaseId } from './model/workflow.ts';

/**
 * All of Phasegate for one principal. Implemented in process by the runtime and over HTTP by the SDK;
 * no surface knows which it holds.
 */
export interface Phasegate {
  start(request: StartRequest): Promise<Started>;
  view(runId: string): Promise<RunView>;
  /** The current or a completed phase; for any other, the refusal of a skipped phase. `requested` is an id, number or name. */
  phase(runId: string, requested?: Json): Promise<PhaseAnswer>;
  /** Titles of the phases the run was started with, which may no longer be those of the file. */
  overview(runId: string): Promise<WorkflowOverview>;
  runs(query?: RunQuery): Promise<readonly RunSummary[]>;
  submit(runId: string, command: Command): Promise<Submitted>;
  judgeTool(runId: string | null, use: ToolUse): Promise<Verdict>;
  history(
    runId: string | null,
    page?: { readonly after?: number; readonly limit?: number } & Reading,
  ): Promise<readonly AuditRecord[]>;
}

/** How much of records is read at once. A server that is asked over HTTP gives whole records, as many as it sees fit. */
export interface Reading {
  /** A large value stays out: in its place is `left_out`, with the SHA-256 and the length of its JSON. Left out: nothing does. */
  readonly values?: 'left_out';
  /** So many characters of data at most, but one record at least; what comes then is for the next page. */
  readonly most?: number;
}

/** What a run is started with. */
export interface StartRequest {
  readonly workflow: string;
  readonly target?: string | null;
  /** What the run is to achieve, at most 2,000 characters; it stays as it is for the whole run. */
  readonly goal?: string;
  readonly params?: JsonObject;
  readonly queue?: boolean;
  /** Higher is claimed first; 0 where left out. */
  readonly priority?: number;
  /**
   * What an agent must be able to do to claim the run, beside what the workflow asks for. An agent that starts it
   * without queueing says thereby that it can, where nobody said what it can do when it was added.
   */
  readonly capabilities?: readonly string[];
}

/** A run was made, or it was refused and none was. */
export type Started =
  | { readonly verdict: Verdict & { readonly allowed: true }; readonly view: RunView }
  | { readonly verdict: Verdict & { readonly allowed: false }; readonly view: null };

/** What came of a command: the verdict, and the run as the principal may now see it. */
export interface Submitted {
  readonly verdict: Verdict;
  readonly view: RunView;
  readonly outcome: CommandOutcome;
}

/** Which runs to list. */
export interface RunQuery {
  readonly status?: Run['status'];
  readonly workflow?: string;
  readonly limit?: number;
  /** How many of the newest are left out. */
  readonly offset?: number;
  /** Only those that the one who asks holds. */
  readonly held?: boolean;
}

/** One line of the list of runs. */
export interface RunSummary {
  readonly run: string;
  readonly workflow: string;
  readonly target: string | null;
  /** Absent where it was started without one, and among the queued. */
  readonly goal?: Goal;
  readonly status: Run['status'];
  readonly phase: PhaseId | null;
  readonly holder: string | null;
  readonly epoch: number;
  /** Of the queue; 0 where nothing was said. */
  readonly priority: number;
  /** What an agent must be able to do to claim it, the workflow's own included. */
  readonly capabilities: readonly string[];
  /** How many phases a human led it past; absent where there is none, and among the queued. */
  readonly overridden?: number;
  readonly startedAt: string;
  readonly updatedAt: string;
}

/** One link of the audit chain. `hash` covers the canonical JSON of all other fields. */
export interface AuditRecord {
  readonly seq: number;
  /** Null for the project's own chain. */
  readonly run: string | null;
  readonly time: string;
  readonly principal: string;
  readonly event: string;
  readonly data: Json;
  readonly prev: string;
  readonly hash: string;
}
