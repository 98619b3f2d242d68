import type { Json, JsonObject, NextAction, PhaseId, RunStatus, Warning } from '@phasegate/core';
import type { Progress, Proven } from '@phasegate/core/engine';
import type { Mode, Ring } from '@phasegate/core/model';
import type { EventRecord } from './auditAnswers.ts';
import type { WireBlocker } from './blockers.ts';
import type { GoalFields } from './goal.ts';
import type { Overridden } from './overridden.ts';
import type { Violation } from './violation.ts';

export type { Overridden } from './overridden.ts';
export type { Violation } from './violation.ts';

/** One phase as an agent sees it. */
export type PhaseFields = {
  readonly phase: PhaseId;
  readonly phase_number: number;
  readonly phase_name: string;
  readonly phase_content: string;
  readonly artifacts_from_previous: JsonObject;
  readonly checkpoint_criteria: JsonObject;
  readonly tasks: readonly { readonly number: number; readonly name: string }[];
  readonly task_count: number;
  /** The same text again, where the phase comes from a source. */
  readonly phase_overview?: string;
  readonly source_id?: string;
};

/** What is told of a run, no matter who reads it. The fields of the phase are absent once the run has ended. */
export type RunFields = GoalFields &
  Partial<Omit<PhaseFields, 'phase'>> & {
    readonly workflow: string;
    readonly title: string;
    readonly target: string | null;
    readonly params: JsonObject;
    readonly status: RunStatus;
    readonly mode: Mode;
    readonly ring: Ring;
    /** The git worktree the run works in; absent: the project's own folder. */
    readonly folder?: string;
    readonly trusted: boolean;
    readonly epoch: number;
    readonly holder: string | null;
    /** Null once the run has ended. */
    readonly phase: PhaseId | null;
    readonly current_phase: PhaseId | null;
    readonly completed_phases: readonly PhaseId[];
    readonly progress: Progress;
    readonly attempts: number;
    /** Why the attempt before failed. */
    readonly feedback: string | null;
    /** What the fence last refused the phase for; absent where there is nothing. */
    readonly violations?: readonly Violation[];
    /** The run that has the workspace, for which this one waits in the queue; absent where it waits for none. */
    readonly waits_for?: WaitedFor;
    /** Phases that a human led the run past, oldest first: they are not completed. Absent where there is none. */
    readonly overrides?: readonly Overridden[];
    /** What the engine established by running something; absent where it ran nothing. */
    readonly proven?: readonly Proven[];
    readonly gate: Gate | null;
    readonly questions: readonly { readonly text: string; readonly options: readonly string[] }[];
    readonly answers: readonly GivenAnswer[];
    readonly escalation: RunEscalation | null;
    /** Why the run was stopped. */
    readonly reason: string | null;
    readonly started_at: string;
    readonly updated_at: string;
    /** The one legal thing to do next. */
    readonly next_action: string;
    /** The same in parts, for programs. */
    readonly next_step?: NextAction;
  };

/** A run that another one waits for. */
export type WaitedFor = { readonly run: string; readonly workflow: string; readonly status: RunStatus };

/** One run as its reader may see it. */
export type Run = RunFields & {
  readonly run: string;
};

/** A run, or an item of its phase, as the agent that works on it sees it. */
export type Task = RunFields & {
  readonly id: string;
  /** Only where one item of a parallel phase was claimed. */
  readonly item?: { readonly key: string; readonly value: Json };
};

/** A gate that is open. What stands in `context` is for humans only. */
export type Gate = {
  readonly id: string;
  readonly prompt: string;
  readonly options: readonly { readonly label: string; readonly requires_input: boolean }[];
  readonly since: string;
  readonly expires_at: string | null;
  readonly approvers?: readonly string[];
  readonly quorum?: number;
  readonly votes?: readonly { readonly by: string; readonly option: string }[];
  /** Humans whose yes does not count, as it is their own work; absent where there is none. */
  readonly excluded?: readonly string[];
  readonly context?: JsonObject;
  /** The hash a decision must carry; for humans, from `getRun`. */
  readonly shown?: string;
};

/** A human's answer to one of an agent's questions. */
export type GivenAnswer = {
  /** From 1. */
  readonly question: number;
  readonly text: string;
  readonly by: string;
  readonly at: string;
  readonly elicited: boolean;
  readonly asked?: string;
};

/** Why a human must act. */
export type RunEscalation = {
  readonly reason: string;
  readonly message: string;
  readonly since: string;
  readonly blockers: readonly WireBlocker[];
};

/** What was claimed, with the token for its phase. The client keeps the token by itself. */
export type Claim = {
  readonly task: Task;
  readonly phase_token: string;
  readonly expires_at: string;
};

/** A transition that was allowed. One that was refused is thrown, with its blockers. */
export type Transition = Moved | Waiting | Ended;

/** The run is in the next phase and the client holds the token for it, or one item of a parallel phase is done. */
export type Moved = {
  readonly allowed: true;
  readonly status: 'active';
  readonly phase: PhaseId;
  /** Absent after an item: nothing is in hand any more. */
  readonly phase_token?: string;
  readonly expires_at?: string;
  readonly task: Task | null;
  /** The run as it is now, where `task` is null. */
  readonly run?: Run;
  readonly phase_completed?: PhaseId;
  readonly item_completed?: string;
  /** What strict enforcement would have refused, in permissive mode. */
  readonly would_refuse?: readonly WireBlocker[];
  readonly next_action: string;
  /** What did not hold and does not block. */
  readonly warnings?: readonly Warning[];
};

/** The phase's checks have passed and a human must choose. The token goes on reading. */
export type Waiting = {
  readonly allowed: true;
  readonly status: 'waiting';
  /** The phase that waits: it is not completed. */
  readonly phase: PhaseId;
  readonly gate: Gate | null;
  readonly would_refuse?: readonly WireBlocker[];
  readonly next_action: string;
  /** What did not hold and does not block. */
  readonly warnings?: readonly Warning[];
};

/** The run has come to its end. */
export type Ended = {
  readonly allowed: true;
  readonly status: 'completed';
  readonly phase: null;
  readonly task: Task | null;
  readonly phase_completed?: PhaseId;
  readonly message?: string;
  readonly would_refuse?: readonly WireBlocker[];
  readonly next_action: string;
  /** What did not hold and does not block. */
  readonly warnings?: readonly Warning[];
};

/** The verdict on a tool call that is not carried out. */
export type ToolVerdict = {
  readonly allowed: boolean;
  /** Why it was refused, in words and as a code. */
  readonly reason?: string;
  readonly code?: string;
  /** The rule of the definition that refuses, and the file and line it is written in. */
  readonly rule?: string;
  readonly rule_at?: string;
  readonly next_action?: string;
  /** How to ask a human. */
  readonly ask?: string;
  readonly would_refuse?: readonly WireBlocker[];
};

/** What came of a tool call: carried out, or refused. */
export type ToolOutcome = ToolAnswer | RefusedTool;

/** A tool call that was carried out. Whether the tool itself succeeded stands in `result.ok`. */
export type ToolAnswer = ToolVerdict & {
  readonly allowed: true;
  readonly result: ToolResult;
  readonly receipt: Receipt | null;
};

/** A tool call that was refused. */
export type RefusedTool = ToolVerdict & {
  readonly allowed: false;
  readonly result: null;
  readonly receipt: null;
};

/** What a tool gave back. */
export type ToolResult = {
  readonly ok: boolean;
  readonly output: Json;
  /** Of a command. */
  readonly exit_code?: number | null;
};

/** Signed record of something the server ran. */
export type Receipt = {
  readonly id: string;
  readonly run: string;
  readonly phase: PhaseId;
  readonly epoch: number;
  readonly agent: string;
  readonly tool: string;
  readonly input_hash: string;
  readonly output_hash: string;
  readonly ok: boolean;
  readonly exit_code: number | null;
  /** Hash of what the workspace held when a program had run, and before; null and absent where it was not taken. */
  readonly tree: string | null;
  readonly tree_before?: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly signature: string;
};

/** The current phase. Its fields are absent once the run has ended. */
export type PhaseAnswer = GoalFields &
  Partial<Omit<PhaseFields, 'phase'>> & {
    readonly run: string;
    readonly status: RunStatus;
    readonly phase: PhaseId | null;
    readonly message?: string;
    readonly gate: Gate | null;
    readonly next_action: string;
  };

/** One task of a phase. */
export type PhaseTask = {
  readonly run: string;
  readonly phase: PhaseId;
  readonly task_number: number;
  readonly task_content: string;
  readonly source: 'static' | 'dynamic';
  readonly next_action: string;
};

/** One line of the list of runs. */
export type RunLine = GoalFields & {
  readonly run: string;
  readonly workflow: string;
  readonly target: string | null;
  readonly status: RunStatus;
  readonly phase: PhaseId | null;
  readonly holder: string | null;
  readonly epoch: number;
  readonly priority: number;
  readonly capabilities: readonly string[];
  /** How many phases a human led it past; absent where there is none. */
  readonly overridden?: number;
  readonly started_at: string;
  readonly updated_at: string;
};

/** A page of runs, newest first. */
export type RunPage = {
  readonly runs: readonly RunLine[];
  /** Of the next page; null after the last. */
  readonly next_offset: number | null;
};

/** A run that was made. */
export type StartedRun = {
  readonly run: string;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly phase: PhaseId | null;
  readonly ring: Ring;
  readonly trusted: boolean;
  readonly next_action: string;
  readonly would_refuse?: readonly WireBlocker[];
  /** What did not hold and does not block. */
  readonly warnings?: readonly Warning[];
};

/** The gate a run waits at, as a human is shown it. */
export type GateCard = {
  readonly gate: string;
  readonly card: JsonObject;
  /** The hash of the card; a decision carries it. */
  readonly shown: string;
};

/** What the agent of a token may see of its run at one moment. Under 100 KB. */
export type AgentSnapshot = {
  readonly time: string;
  readonly task: Partial<Task>;
  /** Paths of what was cut so that the snapshot stays small. */
  readonly truncated: readonly string[];
};

/** The project as a human may see it at one moment. Under 100 KB. */
export type HumanSnapshot = {
  readonly time: string;
  /** How many runs there are, by status. */
  readonly runs: Readonly<Record<string, number>>;
  readonly open: readonly Partial<RunLine>[];
  readonly leases: readonly Partial<Lease>[];
  readonly waiting: readonly { readonly run?: string; readonly gate?: Partial<Gate> }[];
  readonly events: readonly Partial<EventRecord>[];
  readonly truncated: readonly string[];
};

/** An agent and what it holds. */
export type Agent = {
  readonly name: string;
  /** Null where nobody said; then what the agent says when it claims counts. */
  readonly capabilities: readonly string[] | null;
  readonly added_at: string;
  /** The human who uses the key; absent where it is nobody's in particular. */
  readonly owner?: string;
  readonly leases: readonly Lease[];
};

/** The agents of a project. */
export type AgentList = {
  readonly agents: readonly Agent[];
  /** Every lease, also of those who have no key. */
  readonly leases: readonly Lease[];
};

/** One workflow of the project. */
export type WorkflowLine = {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
  /** By name; absent where nothing is known without running code. */
  readonly params?: JsonObject;
  readonly phases: number | null;
  readonly dynamic?: boolean;
  readonly problem?: string;
};

/** An agent's hold on a run or on one item of it. */
export type Lease = {
  readonly run: string;
  readonly item: string | null;
  readonly agent: string;
  readonly epoch: number;
  readonly expires_at: string;
};
