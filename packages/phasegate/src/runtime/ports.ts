import type {
  AuditRecord,
  CheckResult,
  EvidenceClass,
  Json,
  JsonObject,
  Phasegate,
  Principal,
  Problem,
  Run,
  RunEvent,
  RunQuery,
  RunSummary,
  Subject,
  Workflow,
} from '@phasegate/core';

/**
 * Where runs and their audit live. Small and async; every write is one durable transaction.
 * `storeContract` (stores/contract.ts) is what an implementation must pass.
 */
export interface Store {
  /** The run and its version, or undefined. Throws `state_tampered` when the row does not match its seal. */
  load(runId: string): Promise<StoredRun | undefined>;
  /** Makes a run; its events open its chain and `project` goes on the project's chain. False when the id is taken. */
  create(run: Run, audit: readonly AuditDraft[], project: readonly AuditDraft[]): Promise<boolean>;
  /** Writes run and audit if the stored version is still `version`; else nothing, and false. */
  save(
    run: Run,
    version: number,
    audit: readonly AuditDraft[],
    project?: readonly AuditDraft[],
  ): Promise<boolean>;
  /** Appends to a run's chain (or the project's, with null) without changing state, if the epoch is still the given one. */
  note(runId: string | null, audit: readonly AuditDraft[], epoch?: number): Promise<boolean>;
  /** Records of one chain in order. */
  history(
    runId: string | null,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly AuditRecord[]>;
  list(query: RunQuery): Promise<readonly RunSummary[]>;

  humans(): Promise<readonly HumanRecord[]>;
  /** Adds or replaces a human. */
  putHuman(human: HumanRecord, audit: readonly AuditDraft[]): Promise<void>;
  removeHuman(name: string, audit: readonly AuditDraft[]): Promise<boolean>;

  trusted(hash: string): Promise<TrustRecord | undefined>;
  /** The newest acceptance of a workflow, whatever its hash. */
  trustedBefore(workflow: string): Promise<TrustRecord | undefined>;
  putTrust(trust: TrustRecord, audit: readonly AuditDraft[]): Promise<void>;

  /** Checks every chain, seal and head; yields what it finds, nothing when all is well. */
  verify(): Promise<AuditReport>;
  /** A consistent copy while others write. */
  backup(file: string): Promise<BackupRecord>;
  close(): Promise<void>;
}

/** A run with the version it was read at. */
export interface StoredRun {
  readonly run: Run;
  readonly version: number;
}

/** An audit record before the store gives it its place in a chain. */
export interface AuditDraft {
  readonly time: string;
  readonly principal: string;
  readonly event: RunEvent['type'] | ProjectEvent | NoteEvent;
  readonly data: Json;
}

/** Events of the project's own chain. */
export type ProjectEvent =
  | 'run_started'
  | 'run_ended'
  | 'human_added'
  | 'human_removed'
  | 'workflow_trusted'
  | 'credential_failed'
  | 'database_backed_up'
  | 'database_restored'
  | 'start_refused';

/** Events of a run's chain that change no state. */
export type NoteEvent = 'tool_judged' | 'command_refused';

/** What seals a chain and a row, and signs the head. Built from the project's keys; stores receive it. */
export interface Seal {
  /** Gives drafts their place after `head`. */
  chain(runId: string | null, head: ChainHead, drafts: readonly AuditDraft[]): readonly SealedRecord[];
  /** Keyed MAC of a row: run id, version, newest seq and hash, state text. */
  mac(row: SealedRow): string;
  /** Keyed fingerprint of one chain's head, added up over all chains into the signed head. */
  fingerprint(runId: string, head: ChainHead): bigint;
  sign(text: string): string;
  verifySignature(text: string, signature: string): boolean;
}

/** A record with the canonical text of its data, which was made for its hash and can be stored as it is. */
export interface SealedRecord extends AuditRecord {
  readonly dataText: string;
}

/** The newest link of a chain; seq 0 and an empty hash before the first. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** What a row's MAC covers. */
export interface SealedRow {
  readonly runId: string;
  readonly version: number;
  readonly seq: number;
  readonly hash: string;
  readonly state: string;
}

/** What `audit verify` found. */
export interface AuditReport {
  readonly ok: boolean;
  readonly runs: number;
  readonly records: number;
  /** Records newer than the signed head: covered by their run's seal, not yet by the head. */
  readonly unanchored: number;
  readonly findings: readonly AuditFinding[];
}

/** One thing wrong with the audit. */
export interface AuditFinding {
  readonly kind:
    | 'record_edited'
    | 'record_missing'
    | 'tail_cut'
    | 'run_dropped'
    | 'run_rolled_back'
    | 'state_edited'
    | 'head_invalid'
    | 'decision_forged';
  readonly run: string | null;
  readonly seq: number | null;
  readonly message: string;
}

/** A human and the wrapped key only their passphrase opens. */
export interface HumanRecord {
  readonly name: string;
  /** Ed25519, SPKI, base64url. */
  readonly publicKey: string;
  readonly wrappedKey: WrappedKey;
  readonly addedAt: string;
}

/** A private key encrypted by AES-256-GCM under a key derived by scrypt. All fields base64url. */
export interface WrappedKey {
  readonly kdf: 'scrypt';
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly iv: string;
  readonly tag: string;
  readonly ciphertext: string;
}

/** A human accepted these files. */
export interface TrustRecord {
  readonly hash: string;
  readonly workflow: string;
  /** Path relative to the project → SHA-256. */
  readonly files: Readonly<Record<string, string>>;
  readonly by: string;
  readonly at: string;
  readonly signature: string;
}

/** One backup. */
export interface BackupRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly path: string;
  readonly sizeBytes: number;
}

/** A check on the shelf. */
export interface CheckImplementation {
  readonly name: string;
  readonly summary: string;
  /** JSON Schema of `with`. */
  readonly parameters: JsonObject;
  readonly class: EvidenceClass;
  /** Keys of `with` that hold a condition; `defineWorkflow` parses them. */
  readonly conditions?: readonly string[];
  /** May throw or hang: the runtime turns both into a refusal. */
  run(input: CheckInput): Promise<CheckAnswer>;
}

/** What a check is given. */
export interface CheckInput {
  readonly with: JsonObject;
  readonly subject: Subject;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  readonly signal: AbortSignal;
}

/** A check's own answer, before the runtime adds class and the author's message. */
export interface CheckAnswer {
  readonly passed: boolean;
  readonly reason: string;
}

/** Calls functions of TypeScript workflows, in a process of their own that has no keys. */
export interface Functions {
  call(request: FunctionCall): Promise<FunctionAnswer>;
  close(): Promise<void>;
}

/** One call. `file` is the module, `code` the hash it must still have. */
export interface FunctionCall {
  readonly file: string;
  readonly code: string;
  readonly ref: string;
  readonly context: JsonObject;
  readonly timeoutMs: number;
}

/** What a function returned, or how it failed. */
export type FunctionAnswer =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly kind: 'threw' | 'timed_out' | 'code_changed' | 'unknown_function';
      readonly reason: string;
      /** Where in which file (absolute) it failed, where that is known. */
      readonly at?: { readonly file: string; readonly line: number; readonly column: number };
    };

/** Turns files into workflows. */
export interface Loader {
  readonly format: 'yaml' | 'typescript' | 'markdown';
  /** Whether a file, by its path relative to the project, may be this loader's. */
  accepts(path: string): boolean;
  /** Reads enough for a listing, without running any code. Null when the file defines no workflow. */
  peek(file: SourceFile): Promise<Peeked | null>;
  /**
   * Reads, checks and compiles. Never throws for what is wrong with the file: that is in `problems`.
   * With `starting` the workflow is made for that very run: a source it names is read now, and kept.
   */
  load(file: SourceFile, starting?: StartingWith): Promise<Loaded>;
}

/** What a run is being started with. */
export interface StartingWith {
  readonly params: JsonObject;
  readonly target: string | null;
}

/** Search over the project's documentation. */
export interface Standards {
  search(query: StandardsQuery): Promise<StandardsAnswer>;
  /** Brings the index up to date; `rebuild` makes it anew. */
  sync(options: { readonly rebuild: boolean }): Promise<IndexReport>;
  close(): Promise<void>;
}

/** What is looked for. */
export interface StandardsQuery {
  readonly query: string;
  /** Synonyms and names the answer would use. */
  readonly terms?: readonly string[];
  readonly limit?: number;
  readonly phase?: number;
  readonly tags?: readonly string[];
  /** Only documents of this workflow (front matter `workflow`, or the folder's name). */
  readonly workflow?: string;
}

/** What was found, in the words of `search_standards`. */
export interface StandardsAnswer {
  readonly results: readonly StandardsResult[];
  readonly total_tokens: number;
  readonly retrieval_method: string;
  readonly query_time_ms: number;
  readonly low_confidence: boolean;
  readonly hint?: string;
}

/** One passage. */
export interface StandardsResult {
  readonly content: string;
  /** Relative to the project. */
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly section: string;
  readonly relevance_score: number;
  readonly tokens: number;
  readonly tags: readonly string[];
  readonly phase: number | null;
}

/** What indexing did. */
export interface IndexReport {
  readonly files: number;
  readonly chunks: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly bytes: number;
}

/** A file of the project. */
export interface SourceFile {
  /** Absolute path of the project's root. */
  readonly root: string;
  /** Relative to the root, with forward slashes. */
  readonly path: string;
}

/** What a listing shows. `phases` is null where they are not literal in the source. */
export interface Peeked {
  readonly id: string;
  readonly title: string;
  readonly phases: readonly string[] | null;
  readonly problems: readonly Problem[];
}

/** A compiled workflow, or why there is none; notes may stand beside a workflow. */
export interface Loaded {
  readonly workflow: Workflow | null;
  readonly problems: readonly Problem[];
  /** Every file the workflow was made from: relative path → SHA-256 of its bytes. The closure `trust` is about. */
  readonly files: Readonly<Record<string, string>>;
}

/** The answer of a check with its class, as the engine wants it. */
export type { CheckResult };

/** The project as local surfaces see it. Built by `main.ts`; the store is opened only when asked for. */
export interface Project {
  /** Absolute path of the root. */
  readonly root: string;
  /** Where state, keys and audit live, outside the workspace. */
  readonly stateDir: string;
  readonly catalog: Catalog;
  /** Search over the documentation the config names; opened when first asked. */
  readonly standards: Standards;
  open(): Promise<OpenProject>;
  /** The humans as a backup has them, for when the database itself cannot be read. The backup is not changed. */
  openBackup(file: string): Promise<{ readonly humans: Humans; close(): Promise<void> }>;
  /** Replaces the state database by a backup; a human's verb. The store must not be open in this process. */
  restore(file: string, human: UnlockedHuman): Promise<void>;
}

/** The workflows of a project. */
export interface Catalog {
  /** Every definition found, without running any code. */
  list(): Promise<readonly CatalogEntry[]>;
  /** By id, title, or path of its file. Throws `workflow_unknown`, `workflow_ambiguous`, `workflow_invalid`. */
  load(name: string, starting?: StartingWith): Promise<CatalogWorkflow>;
  /** Checks the named files, or all found. Throws `file_unreadable` for a path that is not there. */
  validate(
    paths: readonly string[],
  ): Promise<{ readonly checked: readonly string[]; readonly problems: readonly Problem[] }>;
}

/** One line of `list`. */
export interface CatalogEntry extends Peeked {
  readonly path: string;
  readonly format: Loader['format'];
}

/** A valid workflow with where it came from. */
export interface CatalogWorkflow {
  readonly workflow: Workflow;
  readonly path: string;
  readonly format: Loader['format'];
  /** SHA-256 of the canonical JSON of the workflow. */
  readonly hash: string;
  /** SHA-256 over the whole closure of files; what `trust` accepts. */
  readonly closure: string;
  readonly files: Readonly<Record<string, string>>;
  readonly notes: readonly Problem[];
}

/** A project with its store open. */
export interface OpenProject {
  as(principal: Principal): Phasegate;
  /** The gate a run waits at, as a human is shown it, with its hash. Null when it waits at none. */
  gateCard(
    runId: string,
  ): Promise<{ readonly card: JsonObject; readonly shown: string; readonly gate: string } | null>;
  readonly humans: Humans;
  /** What `trust` would accept, with the difference to what was accepted last. */
  trustCard(name: string): Promise<TrustCard>;
  trust(name: string, closure: string, human: UnlockedHuman): Promise<TrustRecord>;
  verifyAudit(): Promise<AuditReport>;
  backup(file?: string): Promise<BackupRecord>;
  close(): Promise<void>;
}

/** The humans of a project. */
export interface Humans {
  list(): Promise<readonly { readonly name: string; readonly addedAt: string }[]>;
  /** The first human needs no credential; a further one needs an existing human's. */
  add(name: string, passphrase: string, by: UnlockedHuman | null): Promise<void>;
  remove(name: string, by: UnlockedHuman): Promise<void>;
  /** Throws `no_human`, `usage` (several humans and no name), `credential_invalid` (recorded in the audit). */
  unlock(name: string | undefined, passphrase: string): Promise<UnlockedHuman>;
}

/** A human whose passphrase was right, in this process only. */
export interface UnlockedHuman {
  readonly principal: Principal & { readonly kind: 'human' };
  /** Ed25519 signature over the text, base64url. */
  sign(text: string): string;
}

/** What a human is asked to accept. */
export interface TrustCard {
  readonly workflow: string;
  readonly path: string;
  readonly closure: string;
  readonly trusted: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly change: 'added' | 'changed' | 'removed' | 'same';
  }[];
}
