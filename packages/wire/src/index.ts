export type * from './answers.ts';
export type * from './auditAnswers.ts';
export { decodeBlockers, encodeBlockers, readBlockers, type WireBlocker } from './blockers.ts';
export { decodeDefects, encodeDefects, encodeFault, type Fault, type WireDefect } from './fault.ts';
export {
  decodeFence,
  encodeFence,
  encodeSettled,
  type FenceDiff,
  type FencedPath,
  type FenceSettled,
  type FenceState,
  type GateFiles,
} from './fence.ts';
export { decodeGoal, encodeGoal, type GoalFields } from './goal.ts';
export {
  BATCH_LIMIT,
  CAPABILITY_LIMIT,
  DIFF_LIMIT,
  NAME_LIMIT,
  PAGE_LIMIT,
  PATH_LIMIT,
  TEXT_LIMIT,
  WORD_LIMIT,
} from './limits.ts';
export {
  type Dialect,
  type HumansTurn,
  type NextCall,
  PLAIN,
  type Place,
  type Reader,
  type Spell,
  spellAction,
  spellNext,
} from './nextCall.ts';
export {
  type AgentFacts,
  decodeAgent,
  decodeLease,
  encodeAgent,
  encodeClaim,
  encodeLease,
  encodeWebhook,
  type LeaseFacts,
  type Webhook,
  type WebhookFacts,
} from './records.ts';
export {
  ALL_COMPLETE,
  type AskedGate,
  decodeLine,
  decodePhase,
  decodeRun,
  decodeTask,
  encodeAskedGate,
  encodeCriteria,
  encodeGate,
  encodeLine,
  encodeOverview,
  encodePhase,
  encodeRun,
  encodeRunPhase,
  encodeTask,
  endedMessage,
  type Overview,
  type Stepped,
} from './run.ts';
export { encodeReadPhase, encodeSessionFault, encodeSessionPhase, encodeState } from './session.ts';
export { encodeSource, type WirePhase, type WireSource, type WireTask } from './sources.ts';
export { encodePassages, type Passage, type Passages } from './standards.ts';
export { encodeNotStarted, encodeStarted, type NotStarted } from './started.ts';
export {
  type Answered,
  decodeOutcome,
  decodeVerdict,
  encodeFetchedTask,
  encodeLeniency,
  encodeSkipped,
  encodeSubmitted,
  type SkippedFields,
  skippedIn,
} from './submitted.ts';
export {
  decodeToolVerdict,
  type ExecutedTool,
  encodeExecuted,
  encodeToolVerdict,
} from './tools.ts';
