import type { Json, JsonObject, PhaseId } from '@phasegate/core';

/**
 * A value whose shape only the author knows: what their own step returned, or a param of theirs.
 * Typed as `JSON.parse` types it, because a check such as `ctx.result.metrics.delta > 0` must compile as it stands.
 */
export type Dynamic = ReturnType<typeof JSON.parse>;

/**
 * What checks, conditions, handlers and bodies are given. Params are there by their own name too. Reading a name that
 * is not there is an error; one that is declared and absent is null.
 */
export interface StepContext extends ContextFields {
  readonly [name: string]: Dynamic;
}

/** The names every `ctx` has. */
export interface ContextFields {
  readonly step_id: PhaseId;
  /** Set when the run starts, never changed. */
  readonly workflow_params: Readonly<Record<string, Dynamic>>;
  /** What handlers returned so far. A change to it is lost: return the change instead. */
  readonly step_state: Record<string, Dynamic>;
  readonly runId: string;
  readonly step: PhaseId;
  readonly params: Readonly<Record<string, Dynamic>>;
  readonly state: Record<string, Dynamic>;
  /** The evidence of the step being completed; null before anything is handed in. */
  readonly result: Dynamic;
  readonly checkpoint: Checkpoint;
  /** The newest value of everything that a step declares. */
  readonly artifacts: Readonly<Record<string, Dynamic>>;
  /** The values a human approved. */
  readonly approved: Readonly<Record<string, Dynamic>>;
  /** The item worked on, in a parallel step; else null. */
  readonly item: Dynamic;
  readonly iteration: number;
  readonly target: string | null;
  readonly attempt: number;
  /** The workflow's database; to read it where there is none is an error. */
  readonly db: Dynamic;
}

/** How far a run is, with the values its steps left behind by their own names. */
export interface Checkpoint {
  readonly workflowRunId: string;
  readonly workflowType: string;
  readonly currentStep: PhaseId | null;
  readonly completedSteps: CompletedSteps;
  readonly iterationCounts: Readonly<Record<string, number>>;
  readonly pendingRetry?: PendingRetry;
  readonly parallelResults?: Readonly<Record<string, ParallelItemResult>>;
  readonly gateDecision?: { readonly gate: string; readonly option: string; readonly input?: string };
  readonly [name: string]: Dynamic;
}

/** The results of completed steps; `includes` answers for a step's name too. */
export interface CompletedSteps extends Omit<readonly StepResult[], 'includes'> {
  readonly [index: number]: StepResult;
  includes(stepOrResult: PhaseId | StepResult): boolean;
}

/** What one completed step returned. */
export interface StepResult {
  readonly step: PhaseId;
  readonly completedAt: string;
  readonly result: Dynamic;
}

/** A step that failed once and is tried again. */
export interface PendingRetry {
  readonly step: PhaseId;
  readonly error: string;
  readonly attempt: number;
}

/** How one item of a parallel step fares. */
export interface ParallelItemResult {
  readonly status: 'pending' | 'completed' | 'failed';
  readonly result?: Dynamic;
  readonly error?: string;
  readonly retryCount: number;
}

/** What anyone who takes up a run again must know. */
export interface ResumeContext {
  readonly workflowType: string;
  readonly runId: string;
  readonly currentStep: PhaseId | null;
  readonly completedSteps: readonly PhaseId[];
  readonly lastStepOutput: Dynamic;
  readonly pendingRetry?: PendingRetry;
  readonly parallelStatus?: {
    readonly total: number;
    readonly completed: number;
    readonly failed: readonly string[];
  };
}

/** What a step's command reads as JSON on stdin. */
export interface StepInput {
  readonly runId: string;
  readonly step: PhaseId;
  readonly checkpoint: Omit<Checkpoint, 'completedSteps'> & {
    readonly completedSteps: readonly StepResult[];
  };
  readonly retryContext?: { readonly error: string; readonly attempt: number };
  /** In a parallel step. */
  readonly item?: Json;
  /** What a human wrote for anyone who works on this step. */
  readonly note?: string;
  /** What a human answered to questions asked in this step. */
  readonly answers?: readonly { readonly question: number; readonly text: string }[];
}

/** What a step's command prints as the last line of stdout. Only `result` and `error` are taken from it. */
export interface StepOutput {
  readonly success: boolean;
  readonly result?: JsonObject;
  readonly error?: string;
  readonly postconditionsPassed: boolean;
  readonly nextStepHint?: string;
}
