// The ports: what shelves and surfaces are to the runtime, and nothing else of each other. The shelves' own ports stand
// in core, so that a shelf can be a package.

export type * from '@phasegate/core/ports';
export type { Anchored, AnchorPlaces, Anchors, MadeAnchor } from './ports/anchoring.ts';
export type {
  BackgroundServer,
  EnsureServer,
  FoundServer,
  ServerEntry,
  ServerState,
} from './ports/background.ts';
export type { ChangesAtGate, FenceOrder, FenceReport, Fencing } from './ports/fencing.ts';
export type {
  HookAnswer,
  HookClient,
  HookEvent,
  HookedRing,
  HookReports,
  HookSession,
  Hooks,
  HookTool,
  HttpHooks,
  Pause,
  Proofs,
  WrittenCall,
  WrittenCalls,
} from './ports/hooks.ts';
export { HOOK_CLIENTS, isHookClient } from './ports/hooks.ts';
export type { Imported, ImportedKey, ImportKind, ImportRequest } from './ports/importing.ts';
export { IMPORT_KINDS } from './ports/importing.ts';
export type {
  Intended,
  Isolate,
  IsolateRequest,
  IsolationFinding,
  IsolationMade,
  IsolationStep,
  OpenServer,
  RunningServer,
  ServeRequest,
  SpawnAgent,
  SpawnEvent,
  Spawned,
  SpawnRequest,
} from './ports/machine.ts';
export type {
  Around,
  DatabaseBackups,
  GateCard,
  GateChoice,
  Gates,
  Keeping,
  ObservedProgram,
  Observing,
  OpenProject,
  OverrideOrder,
  People,
  RunsOf,
  Sandboxes,
  ServerDuties,
  Serving,
  Signing,
  Workshop,
} from './ports/openProject.ts';
export type {
  Catalog,
  CatalogEntry,
  CatalogWorkflow,
  DescribedWorkflow,
  MovedDatabase,
  Project,
  Unverified,
  Validated,
  WorkflowPart,
} from './ports/project.ts';
export {
  type ClientProof,
  type KeptProof,
  NO_SUCH_SETTING,
  NO_SUCH_TOOL,
  type ProofRecords,
  type ProveClients,
  type ProvenWall,
  type ProvenWith,
  type Proving,
} from './ports/proving.ts';
export type {
  Attestation,
  CommitRange,
  FileContent,
  JudgedFile,
  KnownContents,
  KnownEnd,
  PinnedKeys,
  RangeChange,
  RangeCommit,
  RangeRecords,
  RangeReport,
  RangeRules,
  Ranges,
  Uncounted,
} from './ports/ranges.ts';
export type { RecordedRun, RecordingQuery, Records } from './ports/records.ts';
export type { ReachedProject, RemoteProject } from './ports/remote.ts';
export type { Driven, DriveRequest, DriveRun, RunnerProgress } from './ports/runner.ts';
export { sameCodeAgain } from './ports/sameCodeAgain.ts';
export type { SignInKind, SignInRow, SignInRows, SignIns } from './ports/signIns.ts';
export type {
  CheckAnswers,
  ContractStep,
  ContractTest,
  ContractTests,
  Demands,
  Expectation,
  HumanChoice,
  ScriptedAgent,
  SeenRun,
  TestCategory,
  TestRequest,
  TestResult,
  TestWorkflow,
} from './ports/testing.ts';
export type {
  AcceptedFiles,
  DifferingFile,
  FileNow,
  FileTexts,
  Trust,
  TrustCard,
} from './ports/trust.ts';
export type {
  RunWorker,
  Worked,
  WorkerEvent,
  WorkerRepository,
  WorkerRequest,
  WorkOutcome,
} from './ports/worker.ts';
export type { MadeWorktree, RemovedWorktree, RunWorktree, Worktrees } from './ports/worktrees.ts';
