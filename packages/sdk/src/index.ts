export { BoundedInt, ChoiceSet, Constant } from '@phasegate/core/model';
export type {
  Agent,
  AgentList,
  AgentSnapshot,
  AuditPage,
  AuditReport,
  Claim,
  Ended,
  EventRecord,
  Gate,
  GateCard,
  GivenAnswer,
  HumanSnapshot,
  Lease,
  Moved,
  PhaseAnswer,
  PhaseTask,
  Receipt,
  RefusedTool,
  Run,
  RunEscalation,
  RunFields,
  RunLine,
  RunPage,
  StartedRun,
  Task,
  ToolAnswer,
  ToolOutcome,
  ToolResult,
  ToolVerdict,
  Transition,
  Waiting,
  WireBlocker,
  WorkflowLine,
} from '#wire';
export { Arg } from './arg.ts';
export type {
  AgentCalls,
  AgentSelf,
  BegunOptions,
  ClaimOptions,
  TransitionOptions,
} from './client/agentCalls.ts';
export { type ConnectOptions, connect, type PhasegateClient } from './client/connect.ts';
export {
  connectFromEnvironment,
  type Environment,
  type ReadDescriptor,
} from './client/connectFromEnvironment.ts';
export type {
  CommandOptions,
  CommandResult,
  Edit,
  FileCalls,
  FileList,
  GrepOptions,
  GrepResult,
  ListOptions,
} from './client/fileCalls.ts';
export type { FollowOptions } from './client/followEvents.ts';
export type {
  AnswerRequest,
  AuditQuery,
  DecisionRequest,
  FenceRequest,
  HumanCalls,
  RunListQuery,
  RunRequest,
  SignedIn,
  SignInRequest,
} from './client/humanCalls.ts';
export { PhasegateClientError, type WireProblem } from './client/PhasegateClientError.ts';
export { socketFetch, socketPathIn } from './client/socketFetch.ts';
export type { FunctionKind, WorkflowFunction } from './compilation.ts';
export { type DefinedWorkflow, defineWorkflow } from './defineWorkflow.ts';
export type {
  ArtifactDefinition,
  BodyFunction,
  CheckFunction,
  Condition,
  ConditionalNext,
  DatabaseDefinition,
  DatabaseHelper,
  EvidenceDefinition,
  GateDefinition,
  GateOption,
  Handler,
  HandlerResult,
  HumanGate,
  OutcomeNext,
  ParamDefinition,
  WorkflowDefinition,
  WorkflowStep,
} from './definition.ts';
export { Dispatch } from './dispatch.ts';
export { formatOutput, type OutputContext } from './formatOutput.ts';
export { AgentRole, Outcome, outcomeOfStatus, QRStatus } from './outcome.ts';
export {
  type NeedsUserInput,
  parseNeedsUserInput,
  QUESTION_RELAY_HANDLER,
  SUB_AGENT_QUESTION_FORMAT,
} from './questions.ts';
export type {
  Checkpoint,
  CompletedSteps,
  Dynamic,
  ParallelItemResult,
  PendingRetry,
  ResumeContext,
  StepContext,
  StepInput,
  StepOutput,
  StepResult,
} from './stepContext.ts';
export type { StepDatabase } from './stepDatabase.ts';
export { StepDef, Workflow, type WorkflowOptions } from './Workflow.ts';
