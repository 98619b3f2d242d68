export type {
  AgentSnapshotAnswer,
  AuditRecordAnswer,
  HumanSnapshotAnswer,
} from './records.ts';
export type { BlockerAnswer, ProblemAnswer } from './refusals.ts';
export type { GateAnswer, LeaseAnswer, RunAnswer, RunLineAnswer, TaskAnswer } from './runs.ts';
export type { ClaimedAnswer, TransitionedAnswer } from './tasks.ts';
export type { ReceiptAnswer, ToolExecutedAnswer, ToolVerdictAnswer } from './tools.ts';
