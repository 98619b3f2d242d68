import type { Readable } from 'node:stream';
import type { JsonObject, Param, Phasegate } from '@phasegate/core';
import type {
  AgentPrincipal,
  BackgroundServer,
  Catalog,
  DriveRun,
  HookClient,
  HttpHooks,
  Isolate,
  OpenProject,
  OpenServer,
  Project,
  ProveClients,
  ReachedProject,
  RunWorker,
  SpawnAgent,
  Standards,
  TestWorkflow,
  Worktrees,
} from '../../runtime/ports.ts';
import type { Environment } from './environment.ts';
import type { Output } from './output.ts';
import type { Prompts } from './prompts.ts';

/** 0 done, 1 refused or failed, 2 wrong usage or invalid definition. */
export type ExitCode = 0 | 1 | 2;

/** How a program ended that a command ran in its own place. */
export type ProgramCode = number;

/** What one command is: how it is called, and what it does. Its name and summary stand in the command table. */
export interface CliCommand {
  /** How it is called, without `phasegate`; one line for each form. */
  readonly usage: readonly string[];
  /** More than the summary says, where there is more to say. */
  readonly details?: string;
  readonly examples: readonly string[];
  readonly options: OptionSpecs;
  /** Names of the words it takes, as in the usage: `RUN`, `[FILE]`, `[PATH…]`. */
  readonly positionals: readonly string[];
  /** Whether the words after `--` are a command of their own, with all their dashes. */
  readonly takesCommand?: true;
  /** Whether RUN, its first word, may be left out where PHASEGATE_RUN names it. */
  readonly runFromEnvironment?: true;
  /** Whether RUN, its first word, may be left out where only one can be meant; an empty word stands for it then. */
  readonly runByDefault?: true;
  /** It works in a folder without a project, and makes no state there. */
  readonly anywhere?: true;
  /** It makes a project what it is: also one that nobody has accepted yet in a project around it. */
  readonly setsUp?: true;
  /**
   * What it does with the server of `--url` or PHASEGATE_URL: it is `used`; it is `ignored`, as the command is about
   * files or programs here, and only PHASEGATE_URL may be set then; left out, the command refuses both.
   */
  readonly server?: 'used' | 'ignored';
  run(invocation: Invocation): Promise<ExitCode | ProgramCode>;
}

/** A command's line in the list of commands, and how its file is loaded. */
export interface CommandEntry {
  readonly name: string;
  readonly group: 'Set up' | 'Workflows' | 'Runs' | 'Agents and server' | 'For humans' | 'State and audit';
  readonly summary: string;
  load(): Promise<CliCommand>;
}

/** The options of a command by their long name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** One option. A `flag` takes no value, a `text` one, `texts` one at each of its uses. */
export interface OptionSpec {
  readonly type: 'flag' | 'text' | 'texts';
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  /** The values that a shell completes, where there are only a few. */
  readonly choices?: readonly string[];
  /** The first words it belongs to, where the command does several things; with another it is refused. */
  readonly of?: readonly string[];
  readonly summary: string;
}

/** The parsed words after the command's name. */
export interface Arguments {
  readonly positionals: readonly string[];
  /** The words after `--`, where the command takes another. */
  readonly command: readonly string[];
  flag(name: string): boolean;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
}

/** One call of a command, with all it may use. */
export interface Invocation {
  readonly args: Arguments;
  readonly env: Environment;
  readonly stdin: Readable;
  readonly out: Output;
  /** Null where nobody can be asked: no terminal. */
  readonly prompts: Prompts | null;
  /** The project, found once. */
  project(): Promise<Project>;
  /** The project with its store open; closed when the command ends. */
  open(): Promise<OpenProject>;
  /** The server that was named; null where there is none. */
  readonly server: Server | null;
  /** The project wherever it is: over the server that was named, else with its store open. */
  reach(): Promise<ReachedProject>;
  /** The params a workflow declares, from wherever its definition is. */
  declaredParams(workflow: string): Promise<Readonly<Record<string, Pick<Param, 'type'>>>>;
  /** What only a process of its own can do; null where this is none. */
  readonly machine: Machine | null;
  /** The same call in another folder, as if it had been named with `--project`; closed with this one. */
  at(folder: string): Invocation;
  /** Closes the store and forgets the project, so that the next call finds it anew. */
  close(): Promise<void>;
}

/** A server, and what named it. */
export interface Server {
  readonly url: string;
  readonly from: '--url' | 'PHASEGATE_URL';
}

/** What a process of its own can do beside running commands. Given by `main.ts`: rooms do not know each other. */
export interface Machine {
  /** Serves MCP on the process's own stdin and stdout. */
  readonly serveMcp: ServeMcp;
  readonly openServer: OpenServer;
  /** The words this program was started by, for those who are to start it again; absent where nobody can. */
  readonly launcher?: readonly string[];
  /** Absent where nothing can be left running. */
  readonly background?: BackgroundServer;
  readonly spawnAgent: SpawnAgent;
  /** Works on the runs of a server; absent where no programs can be started. */
  readonly runWorker?: RunWorker;
  readonly driveRun: DriveRun;
  readonly testWorkflow: TestWorkflow;
  /** Starts real clients and tries what they are held by. */
  readonly prove?: ProveClients;
  /** Where clients ask the server of a project by HTTP; the key is made where there is none. */
  httpHooks?(place: { readonly root: string; readonly stateDir: string }): Promise<HttpHooks>;
  /** Answers one event of a client's hooks, in the client's own words. */
  answerHook?(event: {
    readonly client: HookClient;
    readonly body: string | null;
    readonly run: string | undefined;
    /** PATH of the client. */
    readonly programs: string | undefined;
    readonly project: Project;
    open(): Promise<OpenProject>;
  }): Promise<JsonObject>;
  /** Absent where this process is not one that may change the machine. */
  isolate?(): Promise<Isolate>;
  /** Git worktrees that runs have to themselves; absent where none can be made. */
  readonly worktrees?: () => Promise<Worktrees>;
  /** Carries out the order that was left in a folder, on this process's terminal. */
  runLaunch(folder: string): Promise<void>;
  /** Aborted when the process is asked to end; from then on a second signal ends it at once. */
  stopping(): AbortSignal;
}

/** Serves one MCP client until it goes away. */
export type ServeMcp = (serving: {
  readonly phasegate: Phasegate;
  readonly catalog: Catalog;
  readonly standards: Standards;
  readonly version: string;
  readonly run: string | undefined;
  /** Whose tools of attached servers go through it, and for whom. */
  readonly project: OpenProject;
  readonly agent: AgentPrincipal;
  /** The epoch of each run the agent knew of when it was started. */
  readonly epochs: Map<string, number>;
  log(text: string): void;
}) => Promise<void>;
