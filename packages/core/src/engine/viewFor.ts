import type { Json, JsonObject } from '../json.ts';
import type { Mode, PhaseId, Ring } from '../model/workflow.ts';
import type { Answer, Escalation, Question, RunStatus } from './run.ts';
import type { NextAction } from './verdict.ts';

/** All a principal may see of a run. Later phases are absent from the value, so no surface can leak them. Wire names. */
export interface RunView {
  readonly run: string;
  readonly workflow: string;
  readonly title: string;
  readonly target: string | null;
  readonly params: JsonObject;
  readonly status: RunStatus;
  readonly mode: Mode;
  readonly ring: Ring;
  readonly trusted: boolean;
  readonly epoch: number;
  readonly holder: string | null;
  readonly phase: PhaseId | null;
  readonly current_phase: PhaseView | null;
  readonly completed_phases: readonly PhaseId[];
  readonly progress: Progress;
  readonly attempts: number;
  readonly feedback: string | null;
  readonly gate: GateView | null;
  readonly questions: readonly Question[];
  readonly answers: readonly Answer[];
  readonly escalation: Escalation | null;
  /** Why the run was stopped. */
  readonly reason: string | null;
  readonly started_at: string;
  readonly updated_at: string;
  readonly next_action: NextAction;
}

/** How far a run is, in phases. */
export interface Progress {
  readonly completed: number;
  readonly current: number | null;
  readonly total: number;
}

/** One phase as an agent sees it (S0.12 and the fields of interfaces.md). */
export interface PhaseView {
  readonly phase: PhaseId;
  readonly phase_number: number;
  readonly phase_name: string;
  readonly phase_content: string;
  readonly artifacts_from_previous: JsonObject;
  readonly checkpoint_criteria: JsonObject;
  readonly tasks: readonly { readonly number: number; readonly name: string }[];
  readonly task_count: number;
}

/** A gate as shown to whoever may see it; the context is for humans only. */
export interface GateView {
  readonly id: string;
  readonly prompt: string;
  readonly options: readonly { readonly label: string; readonly requires_input: boolean }[];
  readonly since: string;
  readonly expires_at: string | null;
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly votes: readonly { readonly by: string; readonly option: string }[];
  /** Values at the gate's context paths and the evidence; empty for an agent. */
  readonly context: JsonObject;
}

/** A phase, or the refusal of a skipped one. */
export type PhaseAnswer =
  | { readonly ok: true; readonly phase: PhaseView }
  | { readonly ok: false; readonly refusal: JsonObject & { readonly error: Json } };
