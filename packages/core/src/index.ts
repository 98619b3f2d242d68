export type { Circumstance, Command, Fact, Facts, Look, Subject } from './engine/command.ts';
export type { RunEvent, RunEventType } from './engine/events.ts';
export type { ToolUse } from './engine/judgeTool.ts';
export type {
  Answer,
  CheckResult,
  Completion,
  Escalation,
  GateDecision,
  GateWait,
  Item,
  PhaseWork,
  Principal,
  Question,
  QuestionWait,
  Run,
  RunCore,
  RunStatus,
  Wait,
} from './engine/run.ts';
export type { Blocker, BlockerCode, NextAction, Verdict } from './engine/verdict.ts';
export type { GateView, PhaseAnswer, PhaseView, Progress, RunView } from './engine/viewFor.ts';
export { ERROR_CODES, type ErrorCode, PhasegateError, type Problem } from './errors.ts';
export { canonicalJson, isJsonObject, type Json, type JsonObject, own } from './json.ts';
export type {
  ArtifactDraft,
  CheckDraft,
  DraftProblem,
  GateDraft,
  KnownCheck,
  ParamDraft,
  PhaseDraft,
  RouteDraft,
  WorkflowDraft,
} from './model/draft.ts';
export type { Expression, ExpressionError, Scope } from './model/expression.ts';
export {
  type Artifact,
  type Check,
  type Condition,
  type Enforcement,
  EVIDENCE_CLASSES,
  type EvidenceClass,
  type EvidenceField,
  type EvidenceRule,
  type EvidenceRules,
  type FunctionRef,
  type GateOption,
  type GateTimeout,
  type HumanGate,
  type Mode,
  OUTCOMES,
  type Outcome,
  type Parallel,
  type Param,
  type ParamDomain,
  type Phase,
  type PhaseId,
  phaseById,
  RINGS,
  type Ring,
  type Route,
  type Target,
  type Task,
  type ToolConstraint,
  type ToolPolicy,
  type Work,
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
