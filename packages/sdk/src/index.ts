export { BoundedInt, ChoiceSet, Constant } from '@phasegate/core';
export { Arg } from './arg.ts';
export type { FunctionKind, WorkflowFunction } from './compilation.ts';
export { type DefinedWorkflow, defineWorkflow } from './defineWorkflow.ts';
export type {
  ArtifactDefinition,
  BodyFunction,
  CheckFunction,
  Condition,
  ConditionalNext,
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
export { AgentRole, Outcome, QRStatus } from './outcome.ts';
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
export { StepDef, Workflow, type WorkflowOptions } from './Workflow.ts';
