import type { JsonObject, Phasegate, PhaseId, Principal, Run, RunView, Submitted } from '@phasegate/core';
import type { Ring } from '@phasegate/core/model';
import type {
  Admitted,
  AgentPrincipal,
  Agents,
  ArchiveFile,
  ArchiveRecord,
  Attempt,
  AuditReport,
  BackupRecord,
  Claims,
  DatabaseBackup,
  Databases,
  Dependencies,
  Enclose,
  Feed,
  Humans,
  KeptAnswers,
  McpCommand,
  Migrations,
  Passkeys,
  Receipt,
  Receipts,
  SandboxState,
  Toolbox,
  UnlockedHuman,
  VerifyOptions,
  Webhooks,
} from '@phasegate/core/ports';
import type { ChangesAtGate, Fencing } from './fencing.ts';
import type { Hooks } from './hooks.ts';
import type { ProofRecords } from './proving.ts';
import type { RangeRecords } from './ranges.ts';
import type { Records } from './records.ts';
import type { SignIns } from './signIns.ts';
import type { Trust } from './trust.ts';

/** What work that is handed in was done with. */
export interface Around {
  /** Checks and handlers look at its copy of the workflow's database, which is installed if accepted. */
  readonly attempt?: Attempt;
  /** Hash of the workflow it was done for: a run that has another by now refuses it with `run_changed`. */
  readonly workflowHash?: string;
  /** The holder of the phase token it comes with: one that is dead when it would be written changes nothing. */
  readonly admitted?: Admitted;
  /** How the agent that acts is attached, established by the one who started it; absent: `served`. */
  readonly ring?: Ring;
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

/** A human leads a run past the phase it is in. */
export interface OverrideOrder {
  readonly reason: string;
  /** Where it leads, null for the end; left out: the phase's one way after `ok`. */
  readonly to?: PhaseId | null;
  /** Of the run that was shown: where it has moved since, nothing is overridden. Left out: as it stands now. */
  readonly epoch?: number;
}

/** The runs of a project. */
export interface RunsOf {
  as(principal: Principal, around?: Around): Phasegate;
  /** The whole run, for the one who drives it; never for what an agent is shown. Throws `run_unknown`. */
  load(runId: string): Promise<Run>;
  /** The run as a principal may see it, by one who only watches: no lease is renewed and no gate closed for it. */
  look(runId: string, principal: Principal): Promise<RunView>;
  /** How many runs there are of each status; those of which there are none may be absent. */
  countRuns(): Promise<Readonly<Partial<Record<Run['status'], number>>>>;
  readonly records: Records;
  readonly migrations: Migrations;
  /** What was changed outside a phase's scope; throws `fence_failed` where runs have no workspace. */
  readonly fencing: Fencing;
  /** What a phase changed until its gate opened, where a card has not the room for all of it. */
  readonly changesAtGate: ChangesAtGate;
}

/** The gates at which humans decide. */
export interface Gates {
  /** The gate a run waits at, as a human is shown it, with its hash. Null when it waits at none. */
  gateCard(runId: string): Promise<GateCard | null>;
  /** A human's choice at a gate, signed with their key here and nowhere else. */
  decide(runId: string, choice: GateChoice, human: UnlockedHuman): Promise<Submitted>;
  /** A human breaks the glass, signed like a decision. Throws `usage` where the phase leads to several places. */
  override(runId: string, order: OverrideOrder, human: UnlockedHuman): Promise<Submitted>;
}

/** What humans sign at gates. */
export interface Signing {
  /** The text of each act before it is signed: a passkey is challenged with it. */
  readonly toSign: {
    decide(runId: string, choice: GateChoice, by: string): Promise<string>;
    override(runId: string, order: OverrideOrder, human: Principal): Promise<string>;
  };
}

/** Who there is, and what they accepted. */
export interface People {
  readonly humans: Humans;
  readonly passkeys: Passkeys;
  readonly agents: Agents;
  readonly trust: Trust;
  /** Records a refused credential on the project's chain; never the credential itself. */
  noteCredentialFailure(data: JsonObject): Promise<void>;
}

/** What agents and runners do their work with. */
export interface Workshop {
  /** What clients' hooks are answered by. */
  readonly hooks: Hooks;
  /** What clients were proven to be held by. */
  readonly proofs: ProofRecords;
  readonly claims: Claims;
  readonly toolbox: Toolbox;
  readonly sandboxes: Sandboxes;
  readonly observing: Observing;
  /** The engine's own copies of dependencies. */
  readonly dependencies: Dependencies;
  readonly receipts: Receipts;
  /** Answers to agents that were too large to be given at once. */
  readonly answers: KeptAnswers;
  readonly databases: Databases;
  /** For anyone who runs programs for a run by other ways than the toolbox: before the first, and after each. */
  readonly guardedFiles: {
    /** Keeps what stands there now as the measure of the first program; a project that was just set up calls it. */
    keepFirst(): Promise<void>;
    hold(runId: string): Promise<void>;
    /** Puts back what is not as it was; says what that was, or null. */
    settle(runId: string): Promise<string | null>;
  };
}

/** What others hear of a project, and what a server does for it. */
export interface Serving {
  readonly feed: Feed;
  readonly webhooks: Webhooks;
  readonly server: ServerDuties;
  /** Who is signed in, for the one who serves: no agent and no token has a way to it. */
  signIns(): Promise<SignIns>;
}

/** What is kept: verified, backed up and put aside. */
export interface Keeping {
  readonly databaseBackups: DatabaseBackups;
  /** What is known about the contents that commits are judged by. */
  readonly ranges: RangeRecords;
  verifyAudit(options?: VerifyOptions): Promise<AuditReport>;
  /** Whether the store can be written to: a replica can be read alone. */
  takesWrites(): Promise<boolean>;
  backup(file?: string): Promise<BackupRecord>;
  /** Files that archived runs went to, whether or not they are there. */
  archiveFiles(): Promise<readonly ArchiveFile[]>;
  /** Moves runs that ended before a time to a signed file; a human's verb. Null where no run is that old. */
  archive(
    wanted: { readonly before: string; readonly file?: string },
    human: UnlockedHuman,
  ): Promise<ArchiveRecord | null>;
}

/** A project with its store open: all of it, for the one who puts a process together. Others take the part they need. */
export interface OpenProject extends RunsOf, Gates, Signing, People, Workshop, Serving, Keeping {
  close(): Promise<void>;
}

/** Sandboxes of runs, for anyone who runs programs for one by other ways than the toolbox. */
export interface Sandboxes {
  /** Whether there can be any here. */
  state(): Promise<SandboxState>;
  /** The sandbox of the phase a run is in now; null where neither its workflow nor the project asks for one. */
  asked(runId: string): Promise<Enclose | null>;
  /** The same, whether it is asked for or not. */
  forRun(runId: string): Promise<Enclose>;
  /** Whether one is asked for, of a run of any folder. */
  isAsked(run: Run): Promise<boolean>;
  /** What a whole client in a sandbox starts to speak with the engine. */
  mcp(): Promise<McpCommand>;
}

/** Receipts for programs that are run for a run by other ways than the toolbox. */
export interface Observing {
  /** Looks at the workspace before the program is started; what it gives makes the receipt when it has ended. */
  begin(runId: string, program: ObservedProgram): Promise<(exitCode: number) => Promise<Receipt>>;
}

/** What is run, and for whom. */
export interface ObservedProgram {
  readonly argv: readonly string[];
  /** The file that is started, by its real path; the word itself where no such file is found. */
  readonly program: string;
  readonly agent: AgentPrincipal;
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
    event:
      | 'server_started'
      | 'server_stopped'
      | 'signed_in'
      | 'signed_out'
      | 'token_secret_rotated'
      | 'audit_anchored',
    principal: Principal,
    data: JsonObject,
  ): Promise<void>;
  /**
   * Keeps watch until stopped: expired leases go back to the queue, gates whose time is up are closed, runs where
   * nothing happens are reported, webhooks are delivered. A server has one.
   */
  watch(): { stop(): Promise<void> };
  /** Whether, of all servers that share the store, this one does what is seen outside and only one may do. */
  isOnDuty(): Promise<boolean>;
  /** This server cannot do it, and another is to: the watch leaves the duty when nothing of its own is under way. */
  giveUpDuty(): void;
  /** Throws `keys_unavailable` where no token can be believed or issued for now. */
  demandKeys(): void;
  /** Throws `store_unavailable` where writes failed and still would, though reads may go well. */
  demandWritable(): Promise<void>;
  /** Reads the config's servers, once, and starts the accepted ones; does not wait for them to answer. */
  attachServers(): Promise<void>;
}
