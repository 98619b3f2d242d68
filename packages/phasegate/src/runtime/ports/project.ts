import type { JsonObject, PhaseId, Problem, Workflow } from '@phasegate/core';
import type { RulePlaces, Unaccepted } from '@phasegate/core/model';
import type {
  AuditReport,
  CodeGate,
  Humans,
  Lack,
  Loader,
  Peeked,
  Place,
  SourceParsers,
  Standards,
  StartingWith,
  UnlockedHuman,
} from '@phasegate/core/ports';
import type { Rates } from '@phasegate/proofs';
import type { Anchors } from './anchoring.ts';
import type { Imported, ImportRequest } from './importing.ts';
import type { OpenProject } from './openProject.ts';
import type { Ranges } from './ranges.ts';

/** The project as local surfaces see it. Built by `main.ts`; the store is opened only when asked for. */
export interface Project {
  /** Absolute path of the root. */
  readonly root: string;
  /** What anyone who works here should know before anything else. */
  readonly notes?: readonly string[];
  /** Where state, keys and audit live, outside the workspace. */
  readonly stateDir: string;
  /** The file with the keys that are used: of the state directory, or one that nodes share. Throws `usage`. */
  keysFile(): string;
  /** The database that runs are in, without who connects and how; null for the file of the state directory. Throws `usage`. */
  runsIn(): string | null;
  /** Throws where a folder that nodes share cannot be used; a project that is served would only find out with its first run. */
  demandPlaces(): void;
  /** What an operator should know about those keys before the project is served; null where nothing is amiss. */
  keysNotice(): Promise<string | null>;
  /** Whether there is anything of a project here: a mark, state, or a workflow. Makes nothing. */
  exists(): Promise<boolean>;
  /** Whether changes in a folder at the top of the workspace count: it is there, and no ignore rule leaves it out. */
  measures(folder: string): Promise<boolean>;
  /** The checks of a workflow that ask to be verified and could not be here, whatever is frozen; nothing is run for it. */
  unverified(workflow: Workflow): Promise<readonly Unverified[]>;
  readonly catalog: Catalog;
  /** Whether the code of a workflow may be run here. */
  readonly codeGate: CodeGate;
  /** Search over the documentation the config names; opened when first asked. */
  readonly standards: Standards;
  /** Parsers of the sources that dynamic workflows are made from; loaded when first asked. */
  sources(): Promise<SourceParsers>;
  open(): Promise<OpenProject>;
  /** Names the database that runs are kept in: an address of PostgreSQL, or `embedded`. To be called before it is opened. */
  keepRunsIn(database: string): void;
  /**
   * Copies all runs, humans and records from the file of the state directory into an empty database, and keeps them there
   * from then on. The store must not be open in this process. Throws `server_running`, `audit_broken`, `usage`.
   */
  moveRunsTo(database: string, told: (done: number, all: number) => void): Promise<AuditReport>;
  /**
   * Opens the database of this project at another address, all of it verified and as far as the anchors at least. The store
   * must not be open in this process. Throws `server_running`, `audit_broken`, `store_corrupt`, `store_unavailable`, `usage`.
   */
  openMoved(database: string, anchors: readonly string[]): Promise<MovedDatabase>;
  /** Ranges of commits of the repository that the project is in; the store is not opened for it. */
  readonly ranges: Ranges;
  /** Anchors of the audit, and where they are kept outside. */
  readonly anchors: Anchors;
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

/** A check that no room of the engine would verify in this workspace, and why. */
export interface Unverified extends Lack {
  readonly phase: PhaseId;
}

/** The database of a project at another address, which is known to be that project's own. */
export interface MovedDatabase {
  readonly humans: Humans;
  readonly runs: number;
  readonly records: number;
  /** Keeps the runs of the project there from now on; for a human to say. */
  keep(): void;
  close(): Promise<void>;
}

/** The workflows of a project. */
export interface Catalog {
  /** Every definition found, without running any code. Throws `too_large` where there are more than are looked at. */
  list(): Promise<readonly CatalogEntry[]>;
  /** By id, title, or path of its file. Throws `workflow_unknown`, `workflow_ambiguous`, `workflow_invalid`, `untrusted_workflow`, `too_large`. */
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
  /** Where all its rules are written; absent where no file says any. */
  readonly rulePlaces?: RulePlaces;
}

/** A part of a workflow that something can be said about. */
export type WorkflowPart =
  | { readonly kind: 'phase'; readonly name: PhaseId }
  | { readonly kind: 'param' | 'property'; readonly name: string };
