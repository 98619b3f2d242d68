// The ports: what shelves and surfaces are to the runtime, and nothing else of each other.

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
} from './ports/audit.ts';
export type {
  CheckAnswer,
  CheckImplementation,
  CheckInput,
  FunctionAnswer,
  FunctionCall,
  Functions,
} from './ports/checks.ts';
export type { Loaded, Loader, Peeked, SourceFile, StartingWith } from './ports/loaders.ts';
export type {
  Catalog,
  CatalogEntry,
  CatalogWorkflow,
  Humans,
  OpenProject,
  Project,
  TrustCard,
  UnlockedHuman,
} from './ports/project.ts';
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
export type { BackupRecord, HumanRecord, Store, StoredRun, TrustRecord, WrappedKey } from './ports/store.ts';
