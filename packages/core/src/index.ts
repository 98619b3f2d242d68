// What an embedding of the engine needs. The rest is by subpath: `/model`, `/engine`, `/ports`.

export { apply } from './engine/apply.ts';
export type { Circumstance, Command, Fact, Facts, Look, Subject } from './engine/command.ts';
export { checksFor, type Decision, decide, decideOrLook } from './engine/decide.ts';
export type { RunEvent } from './engine/events.ts';
export { fold } from './engine/fold.ts';
export type { ToolUse } from './engine/judgeTool.ts';
export { judgeTool } from './engine/judgeTool.ts';
export type { Principal, Run, RunStatus } from './engine/run.ts';
export { checksForStart, decideStart, type StartDecision, type Starting } from './engine/start.ts';
export type { Blocker, BlockerCode, NextAction, Verdict, Warning } from './engine/verdict.ts';
export type { GateView, PhaseView, RunView } from './engine/viewFor.ts';
export { viewFor } from './engine/viewFor.ts';
export { ERROR_CODES, type ErrorCode, PhasegateError, type Problem } from './errors.ts';
export { canonicalJson, isJsonObject, type Json, type JsonObject, own } from './json.ts';
export type { Known } from './model/compile/compileContext.ts';
export { type Defined, defineWorkflow } from './model/defineWorkflow.ts';
export type { PhaseDraft, WorkflowDraft } from './model/draft.ts';
export {
  OUTCOMES,
  type Outcome,
  type Param,
  type Phase,
  type PhaseId,
  phaseById,
  type Target,
  type Workflow,
} from './model/workflow.ts';
export type {
  AuditRecord,
  Phasegate,
  RunQuery,
  RunSummary,
  Started,
  StartRequest,
  Submitted,
} from './phasegate.ts';
