// The engine: what may happen next in a run, and what follows from it.

export { apply, begin } from './engine/apply.ts';
export { nextActionFor } from './engine/blockers.ts';
export { canClaim, capabilitiesNeeded, capabilityBlocker } from './engine/capabilities.ts';
export {
  type Claimability,
  claimability,
  freeItem,
  heldItems,
  isParked,
  openItems,
  ringBlocker,
} from './engine/claimable.ts';
export type {
  Circumstance,
  Command,
  Fact,
  Facts,
  FenceAction,
  Look,
  Reachability,
  Subject,
  WorkedAt,
} from './engine/command.ts';
export { databaseOf } from './engine/databaseHash.ts';
export { checksFor, type Decision, decide, decideOrLook } from './engine/decide.ts';
export { type DenyRule, denyRulesOf, rulesAgainst } from './engine/denyRules.ts';
export type { ReleaseCause, RunEvent, RunEventType } from './engine/events.ts';
export { isRunEvent, RUN_EVENT_TYPES } from './engine/events.ts';
export { evidenceProblems, requiredEvidence, validateCheckpoint } from './engine/evidence.ts';
export { gateDueAt } from './engine/expiry.ts';
export { fold, foldStepwise } from './engine/fold.ts';
export { type FoldedPaths, type FolderCount, foldPaths } from './engine/foldPaths.ts';
export { quoteRest } from './engine/foreignText.ts';
export {
  type GateCardFacts,
  gateCard,
  type JudgedItem,
  type LetThrough,
  type StoppedRun,
} from './engine/gateCard.ts';
export { type ChangedFile, type GateDiff, type ToldFile, wholeFile } from './engine/gateDiff.ts';
export {
  type AllowedCalls,
  type AllowedProgram,
  MOST_PATHS,
  type PhaseCount,
  type ReceiptCount,
  type RefusedTry,
  type WorkFacts,
} from './engine/gateWork.ts';
export { type Goal, goalAuthor, goalOf, goalPrincipal, goalText, isUnsigned } from './engine/goal.ts';
export { type HeldAt, holds, holdsAnItem, isStillSo } from './engine/holding.ts';
export { changedSince, type ItemStand, type Items, standOf } from './engine/itemStand.ts';
export type { ToolUse } from './engine/judgeTool.ts';
export { judgeTool, normalise, pathsOf } from './engine/judgeTool.ts';
export { type KnownNames, knownNames } from './engine/knownNames.ts';
export { TREE_LOOK } from './engine/measuredIn.ts';
export { type OtherRun, runInTheWay, type WantedRun } from './engine/oneRun.ts';
export { type CommandOutcome, outcomeOf } from './engine/outcome.ts';
export { changeText, fewOfEach } from './engine/outsideTexts.ts';
export { overrideTarget, overrideWays } from './engine/override.ts';
export { phaseText, previousAttempt, type RenderedText, type Told, taskText } from './engine/phaseText.ts';
export type { Proven } from './engine/proven.ts';
export { QUESTION_RELAY_HANDLER, SUB_AGENT_QUESTION_FORMAT } from './engine/questionRelay.ts';
export {
  dependsOnWorkflow,
  eventOfRecord,
  judgedInput,
  LARGEST_RECORDING,
  RECORDING_VERSION,
  type RecordedEvent,
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
  Established,
  FenceAct,
  FilesChanged,
  Frozen,
  GateDecision,
  GateWait,
  Item,
  Override,
  PhaseWork,
  Principal,
  Question,
  QuestionWait,
  QueuePlace,
  Run,
  RunCore,
  RunStatus,
  TreeChange,
  Wait,
} from './engine/run.ts';
export { timesOf } from './engine/run.ts';
export { checkpointOf, scopeFor, valueAt } from './engine/scope.ts';
export { checksForStart, decideStart, forAnyone, type StartDecision, type Starting } from './engine/start.ts';
export { type ResumeContext, resumeContextOf, stepInputFor } from './engine/stepInput.ts';
export { addSeconds, secondsBetween } from './engine/time.ts';
export { constraintOn, isGuardedIn, mayTouch, mayWrite } from './engine/toolPolicy.ts';
export { type CallUnderWay, refuseUnderWay } from './engine/underWay.ts';
export { whyContested } from './engine/values.ts';
export type { Blocker, BlockerCode, NextAction, Verdict, Warning } from './engine/verdict.ts';
export type {
  GateView,
  OverrideView,
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
  progressOf,
  skippedPhase,
  viewFor,
} from './engine/viewFor.ts';
export {
  type HoldingRun,
  holdOnceBegun,
  isBegun,
  keepsOut,
  type WorkspaceHold,
  waitingFor,
  workspaceHold,
} from './engine/workspaceUse.ts';
