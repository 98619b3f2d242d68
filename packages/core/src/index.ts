export { apply, begin, fold } from './engine/apply.ts';
export { nextActionFor } from './engine/blockers.ts';
export { canClaim, capabilitiesNeeded, capabilityBlocker } from './engine/capabilities.ts';
export type {
  Circumstance,
  Command,
  Fact,
  Facts,
  Look,
  Reachability,
  Subject,
  WorkedAt,
} from './engine/command.ts';
export { checksFor, type Decision, decide, decideOrLook } from './engine/decide.ts';
export type { ReleaseCause, RunEvent, RunEventType } from './engine/events.ts';
export { isRunEvent, RUN_EVENT_TYPES } from './engine/events.ts';
export { checkpointCriteria, evidenceProblems, validateCheckpoint } from './engine/evidence.ts';
export { quoteRest } from './engine/foreignText.ts';
export {
  type GateCardFacts,
  gateCard,
  type JudgedItem,
  type LetThrough,
  type StoppedRun,
} from './engine/gateCard.ts';
export { holds, holdsAnItem } from './engine/holding.ts';
export type { ToolUse } from './engine/judgeTool.ts';
export { judgeTool } from './engine/judgeTool.ts';
export { type KnownNames, knownNames } from './engine/knownNames.ts';
export { type OtherRun, runInTheWay, type WantedRun } from './engine/oneRun.ts';
export { type CommandOutcome, outcomeOf } from './engine/outcome.ts';
export { phaseText, previousAttempt, type RenderedText, type Told, taskText } from './engine/phaseText.ts';
export { QUESTION_RELAY_HANDLER, SUB_AGENT_QUESTION_FORMAT } from './engine/questionRelay.ts';
export {
  eventOfRecord,
  judgedInput,
  LARGEST_RECORDING,
  RECORDING_VERSION,
  type Recording,
  readRecording,
  recorded,
  recordedRefusal,
  type Unrecorded,
  withoutRecording,
} from './engine/recording.ts';
export { itemsFor } from './engine/route.ts';
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
  QueuePlace,
  Run,
  RunCore,
  RunStatus,
  Wait,
} from './engine/run.ts';
export { checkpointOf, scopeFor } from './engine/scope.ts';
export { checksForStart, decideStart, type StartDecision, type Starting } from './engine/start.ts';
export { type ResumeContext, resumeContextOf, stepInputFor } from './engine/stepInput.ts';
export { isGuardedIn, mayWrite } from './engine/toolPolicy.ts';
export { type CallUnderWay, refuseUnderWay } from './engine/underWay.ts';
export { whyContested } from './engine/values.ts';
export type { Blocker, BlockerCode, NextAction, Verdict, Warning } from './engine/verdict.ts';
export type {
  GateView,
  PhaseAnswer,
  PhaseView,
  Progress,
  RunView,
  SkippedPhase,
  WorkflowOverview,
} from './engine/viewFor.ts';
export {
  artifactsOf,
  canAccessPhase,
  completedPhases,
  findPhase,
  overviewOf,
  phaseAnswer,
  phaseArtifact,
  progressOf,
  skippedPhase,
  viewFor,
} from './engine/viewFor.ts';
export { ERROR_CODES, type ErrorCode, PhasegateError, type Problem, type Unaccepted } from './errors.ts';
export {
  canonicalJson,
  DEPTH_LIMIT,
  EVIDENCE_LIMIT,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonBytes,
  jsonProblem,
  own,
  tooDeep,
} from './json.ts';
export { approvalOf } from './model/approval.ts';
export { CAPABILITY, isCapability } from './model/capabilities.ts';
export type { Known } from './model/compileContext.ts';
export { type Defined, defineWorkflow, readPhaseId } from './model/defineWorkflow.ts';
export { BoundedInt, ChoiceSet, Constant, domainOf } from './model/domains.ts';
export type {
  ArtifactDraft,
  CheckDraft,
  DraftProblem,
  GateDraft,
  KnownCheck,
  ParamDraft,
  PhaseDraft,
  PropertyDraft,
  RouteDraft,
  WorkflowDraft,
} from './model/draft.ts';
export { type Edge, edgesOf, leadsBack, successorsOf } from './model/edges.ts';
export type { Expression, ExpressionError, Scope } from './model/expression.ts';
export { evaluate, parseExpression, pathsOf, SCOPE_ROOTS } from './model/expression.ts';
export { type FittedJson, fitJson } from './model/fitJson.ts';
export { compileGlob, globProblem, matchGlob } from './model/glob.ts';
export {
  type GraphCoverage,
  type GraphEdge,
  type GraphNode,
  graphOf,
  type NodeCoverage,
  type NodeStatus,
  type RunPlace,
  type TimesSeen,
  type WorkflowGraph,
} from './model/graph.ts';
export { GUARDED_PATHS, guardOf, isGuardedFolder } from './model/guardedPaths.ts';
export { compileSchema, type SchemaDefect, type SchemaProblem } from './model/jsonSchema.ts';
export { declaredNames, hasFreeResult } from './model/names.ts';
export { fencedJson, linesOf, oneLine, replaceUnseen, shellWord, unseenAsJson } from './model/oneLine.ts';
export { matchCommand, parseCommandLine } from './model/shellWords.ts';
export { didYouMean, suggest } from './model/suggest.ts';
export { sameTarget, targetProblem, targetWithin } from './model/target.ts';
export { asideRanges, fillTemplate, isWithin, placeholdersIn, type TextRange } from './model/template.ts';
export { CONTRACT_TOOLS, isToolName } from './model/tools.ts';
export { workerOf } from './model/workerOf.ts';
export {
  type Artifact,
  CHECK_SEVERITIES,
  type Check,
  type CheckSeverity,
  type Condition,
  type Content,
  type Enforcement,
  EVIDENCE_CLASSES,
  EVIDENCE_RULES,
  type EvidenceClass,
  type EvidenceField,
  type EvidenceRule,
  type EvidenceRules,
  type FunctionRef,
  type GateOption,
  type GateTimeout,
  type HumanGate,
  LEASE_SECONDS,
  MAX_RECLAIMS,
  type Mode,
  ONE_RUN_PER,
  type OneRunPer,
  OUTCOMES,
  type Outcome,
  type Parallel,
  type Param,
  type ParamDomain,
  type Phase,
  type PhaseId,
  type Property,
  type PropertySubject,
  phaseById,
  RINGS,
  type Ring,
  type Route,
  type Target,
  type Task,
  type Templates,
  type ToolConstraint,
  type ToolPolicy,
  type Work,
  type Workflow,
  type WorkflowDatabase,
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
