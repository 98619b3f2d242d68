import type {
  JsonObject,
  Phasegate,
  PhaseId,
  Principal,
  Problem,
  Run,
  Submitted,
  Workflow,
} from '@phasegate/core';
import type { Unaccepted } from '@phasegate/core/model';
import type {
  Agents,
  ArchiveRecord,
  Attempt,
  AuditReport,
  BackupRecord,
  Claims,
  CodeGate,
  DatabaseBackup,
  Databases,
  Feed,
  Humans,
  KeptAnswers,
  Loader,
  Migrations,
  Peeked,
  Place,
  SourceParsers,
  Standards,
  StartingWith,
  Toolbox,
  UnlockedHuman,
  VerifyOptions,
  Webhooks,
} from '@phasegate/core/ports';
import type { Rates } from '@phasegate/proofs';
import type { Imported, ImportRequest } from './importing.ts';
import type { Records } from './records.ts';
import type { Trust } from './trust.ts';

/** The project as local surfaces see it. Built by `main.ts`; the store is opened only when asked for. */
export interface Project {
  /** Absolute path of the root. */
  readonly root: string;
  /** What anyone who works here should know before anything else. */
  readonly notes?: readonly string[];
  /** Where state, keys and audit live, outside the workspace. */
  readonly stateDir: string;
  /** Whether there is anything of a project here: a mark, state, or a workflow. Makes nothing. */
  exists(): Promise<boolean>;
  readonly catalog: Catalog;
  /** Whether the code of a workflow may be run here. */
  readonly codeGate: CodeGate;
  /** Search over the documentation the config names; opened when first asked. */
  readonly standards: Standards;
  /** Parsers of the sources that dynamic workflows are made from; loaded when first asked. */
  sources(): Promise<SourceParsers>;
  open(): Promise<OpenProject>;
  /** Reads the text of a file of rates for a simulation; throws `workflow_invalid` with all that is wrong with it. */
  readRates(file: string, text: string, workflow: Workflow): Promise<Rates>;
  /** Makes a workflow of ours from one of others; writes nothing. Throws `usage`, `workflow_invalid`, `file_unreadable`. */
  importWorkflow(request: ImportRequest): Promise<Imported>;
  /** Makes a new secret for phase tokens, which every process takes up; the present one still verifies. */
  rotateTokenSecret(): Promise<{ readonly kid: string }>;
  /** The humans as a backup has them, for when the database itself cannot be read. The backup is not changed. */
  openBackup(file: string): Promise<{ readonly humans: Humans; close(): Promise<void> }>;
  /** Replaces the state database by a backup; a human's verb. The store must not be open in this process. */
  restore(file: string, human: UnlockedHuman): Promise<void>;
}

/** The workflows of a project. */
export interface Catalog {
  /** Every definition found, without running any code. */
  list(): Promise<readonly CatalogEntry[]>;
  /** By id, title, or path of its file. Throws `workflow_unknown`, `workflow_ambiguous`, `workflow_invalid`, `untrusted_workflow`. */
  load(name: string, starting?: StartingWith): Promise<CatalogWorkflow>;
  /** What can be started, with its params; no code is run for it. */
  describe(): Promise<readonly DescribedWorkflow[]>;
  /** Checks the named files, or all found. Throws `file_unreadable` for a path that is not there. */
  validate(paths: readonly string[]): Promise<Validated>;
}

/** What was found out about definitions. */
export interface Validated {
  readonly checked: readonly string[];
  readonly problems: readonly Problem[];
  /** Workflows in code that no human has accepted: they were read, and not run. */
  readonly unaccepted: readonly Unaccepted[];
}

/** One line of `list`. */
export interface CatalogEntry extends Peeked {
  readonly path: string;
  readonly format: Loader['format'];
}

/** A workflow as the one who may start it is told of it. */
export type DescribedWorkflow = JsonObject & {
  readonly id: string;
  readonly title: string;
  /** How many; null where that is not known without running code. */
  readonly phases: number | null;
};

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
  /** Where a part is written, as it was when the workflow was loaded; null where no file says it. */
  placeOf(part: WorkflowPart): Place | null;
}

/** A part of a workflow that something can be said about. */
export type WorkflowPart =
  | { readonly kind: 'phase'; readonly name: PhaseId }
  | { readonly kind: 'param' | 'property'; readonly name: string };

/** What work that is handed in was done with. */
export interface Around {
  /** Checks and handlers look at its copy of the workflow's database, which is installed if accepted. */
  readonly attempt?: Attempt;
  /** Hash of the workflow it was done for: a run that has another by now refuses it with `run_changed`. */
  readonly workflowHash?: string;
  /** Of the phase token it comes with: a run that moved on since refuses it with `token_dead`. */
  readonly epoch?: number;
}

/** A gate as a human is shown it. */
export interface GateCard {
  /** The instance of the gate. */
  readonly gate: string;
  readonly card: JsonObject;
  /** The hash of the card. */
  readonly shown: string;
}

/** What a human chooses at a gate. */
export interface GateChoice {
  /** The instance of the gate that was shown. */
  readonly gate: string;
  readonly option: string;
  readonly input?: string;
  /** The hash of the card that was shown. */
  readonly shown: string;
  /** That card as `gateCard` gave it: then the run it was made of need not be loaded again. */
  readonly card?: JsonObject;
}

/** A project with its store open. */
export interface OpenProject {
  as(principal: Principal, around?: Around): Phasegate;
  /** The whole run, for the one who drives it; never for what an agent is shown. Throws `run_unknown`. */
  load(runId: string): Promise<Run>;
  /** The gate a run waits at, as a human is shown it, with its hash. Null when it waits at none. */
  gateCard(runId: string): Promise<GateCard | null>;
  /** A human's choice at a gate, signed with their key here and nowhere else. */
  decide(runId: string, choice: GateChoice, human: UnlockedHuman): Promise<Submitted>;
  readonly records: Records;
  readonly migrations: Migrations;
  readonly databases: Databases;
  readonly databaseBackups: DatabaseBackups;
  readonly humans: Humans;
  readonly agents: Agents;
  readonly trust: Trust;
  readonly claims: Claims;
  readonly toolbox: Toolbox;
  /** Answers to agents that were too large to be given at once. */
  readonly answers: KeptAnswers;
  readonly feed: Feed;
  readonly webhooks: Webhooks;
  readonly server: ServerDuties;
  /** For anyone who runs programs for a run by other ways than the toolbox: before the first, and after each. */
  readonly guardedFiles: {
    /** Keeps what stands there now as the measure of the first program; a project that was just set up calls it. */
    keepFirst(): Promise<void>;
    hold(runId: string): Promise<void>;
    /** Puts back what is not as it was; says what that was, or null. */
    settle(runId: string): Promise<string | null>;
  };
  /** Records a refused credential on the project's chain; never the credential itself. */
  noteCredentialFailure(data: JsonObject): Promise<void>;
  verifyAudit(options?: VerifyOptions): Promise<AuditReport>;
  backup(file?: string): Promise<BackupRecord>;
  /** Moves runs that ended before a time to a signed file; a human's verb. Null where no run is that old. */
  archive(
    wanted: { readonly before: string; readonly file?: string },
    human: UnlockedHuman,
  ): Promise<ArchiveRecord | null>;
  close(): Promise<void>;
}

/** Backups of authors' databases, each on the project's chain with its hash. */
export interface DatabaseBackups {
  /** Backs up a run's database, records it and links it to the run; null where the workflow has none. */
  make(runId: string): Promise<DatabaseBackup | null>;
  /** Newest first. */
  list(): Promise<readonly DatabaseBackup[]>;
  /** Puts a backup back in its database's place; a human's verb. Gives the backup of what was there before. */
  restore(backupId: string, human: UnlockedHuman): Promise<DatabaseBackup>;
}

/** What a server does beside answering. */
export interface ServerDuties {
  /** Records something about the server or a sign-in on the project's chain. */
  note(
    event: 'server_started' | 'server_stopped' | 'signed_in' | 'token_secret_rotated',
    principal: Principal,
    data: JsonObject,
  ): Promise<void>;
  /**
   * Keeps watch until stopped: expired leases go back to the queue, gates whose time is up are closed, runs where
   * nothing happens are reported, webhooks are delivered. A server has one.
   */
  watch(): { stop(): Promise<void> };
  /** Reads the config's servers, once, and starts the accepted ones; does not wait for them to answer. */
  attachServers(): Promise<void>;
}
