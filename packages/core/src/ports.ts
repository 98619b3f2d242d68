// The ports of the shelves: what a store, a loader, a parser, a search or a check is to the runtime. Types only.

export type {
  AuditRecord,
  Phasegate,
  Reading,
  RunQuery,
  RunSummary,
  Started,
  StartRequest,
  Submitted,
} from './phasegate.ts';
export type { AgentRecord, AgentStore, Agents, IdentifiedAgent } from './ports/agents.ts';
export type { AnswerPage, KeptAnswers } from './ports/answers.ts';
export type {
  ArchivedBundle,
  ArchivedRun,
  ArchiveFile,
  ArchiveOrder,
  ArchiveRecord,
  ArchiveStore,
} from './ports/archives.ts';
export type {
  AuditDraft,
  AuditFinding,
  AuditReport,
  ChainHead,
  NoteEvent,
  ProjectEvent,
  Seal,
  SealedRecord,
  SealedRow,
  UnprovenAnchors,
  WrittenDraft,
} from './ports/audit.ts';
export type { AuditStore, VerifiedMoment, VerifyOptions } from './ports/auditStore.ts';
export type { CallRecord, CallStore, CallsOver, RunCalls } from './ports/calls.ts';
export type {
  AskedCode,
  CheckAnswer,
  CheckImplementation,
  CheckInput,
  CodeGate,
  FunctionAnswer,
  FunctionCall,
  Functions,
  RanProgram,
  RunRecord,
} from './ports/checks.ts';
export type {
  Attempt,
  AttemptMark,
  AttemptWork,
  DatabaseBackup,
  DatabaseBackupStore,
  Databases,
  SealedCopy,
  WaitingAt,
} from './ports/database.ts';
export type {
  DefinitionPath,
  DefinitionProblem,
  DefinitionReader,
  DefinitionSource,
  DefinitionTree,
  PhaseModel,
  Place,
} from './ports/definitions.ts';
export type { Duty } from './ports/duty.ts';
export type { Feed, FeedRecord, FeedSince, FeedStore } from './ports/feed.ts';
export type {
  Compared,
  Fence,
  FenceChange,
  FenceFiles,
  FenceOrder,
  FenceReport,
  Materialised,
  MeasuredChange,
  MeasuredFile,
  Surveyed,
} from './ports/fence.ts';
export type {
  ClaimableQuery,
  ClaimableRun,
  FoundAt,
  FoundPage,
  NotOverQuery,
  QuietRun,
  RunFinder,
  StoppedQuery,
} from './ports/finding.ts';
export type {
  GuardedCard,
  GuardedChange,
  GuardedEntry,
  GuardedFiles,
  GuardedMeasure,
  GuardedReading,
  GuardedTree,
} from './ports/guarded.ts';
export type {
  HumanRecord,
  HumanStore,
  Humans,
  KeyCarrier,
  NewHuman,
  Passkey,
  Role,
  UnlockedHuman,
  WrappedKey,
} from './ports/humans.ts';
export type { KeptBeside, KeptPart, KeptRecord, KeptStore } from './ports/kept.ts';
export type {
  Admitted,
  AgentPrincipal,
  Claimed,
  Claims,
  LeaseChange,
  LeaseKey,
  LeaseRecord,
  LeaseStore,
  PresentedToken,
  Transition,
  TransitionRequest,
} from './ports/leases.ts';
export type {
  Loaded,
  Loader,
  Peeked,
  Peeking,
  SourceFile,
  SourceMap,
  StartingWith,
} from './ports/loaders.ts';
export type { MigrationCard, Migrations } from './ports/migrations.ts';
export type { AssertedAct, Assertion, NewPasskey, Passkeys } from './ports/passkeys.ts';
export type { Beside, RunListQuery, RunStore, StoredRun } from './ports/runs.ts';
export type {
  Enclose,
  EnclosedProgram,
  EngineProgram,
  FreeProgram,
  McpCommand,
  Sandbox,
  SandboxScope,
  SandboxState,
} from './ports/sandbox.ts';
export type { ConfiguredServer, ServerCard } from './ports/servers.ts';
export type {
  ParsedSource,
  SourceCriterion,
  SourceParser,
  SourceParsers,
  SourcePhase,
  SourceStatus,
  SourceTask,
  SourceWarning,
} from './ports/sources.ts';
export type {
  IndexReport,
  IndexWarning,
  Standards,
  StandardsAnswer,
  StandardsQuery,
  StandardsResult,
} from './ports/standards.ts';
export type { BackupRecord, ProjectStore, Store } from './ports/store.ts';
export type {
  ExecutedCall,
  Receipt,
  Toolbox,
  ToolCallRequest,
  ToolContext,
  ToolImplementation,
  ToolResult,
} from './ports/tools.ts';
export type { TrustRecord, TrustStore } from './ports/trust.ts';
export type {
  Dependencies,
  DependencyKind,
  DependencySet,
  FreezeOrder,
  FrozenSet,
  JudgedReceipt,
  Lack,
  Receipts,
  RoomAnswer,
  RoomRequest,
  VerifiedRoom,
  Verifying,
} from './ports/verifying.ts';
export type { DeadLetter, WebhookProgress, WebhookRecord, WebhookStore, Webhooks } from './ports/webhooks.ts';
