import type { PhaseId, RunStatus } from '@phasegate/core';
import type { UnlockedHuman } from '@phasegate/core/ports';
import type { OpenProject } from './openProject.ts';
import type { Project } from './project.ts';

/** How a project is to be served. */
export interface ServeRequest {
  readonly project: Project;
  /** Default: `127.0.0.1`. */
  readonly host?: string;
  /** 0 picks a free one; left out, the config says. */
  readonly port?: number;
  /** Absolute path of a socket to listen on as well: for the user of the server alone. */
  readonly socket?: string;
  /** PEM files; both or neither. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** A proxy in front speaks TLS and forwards in plain HTTP. */
  readonly behindProxy?: boolean;
  /** Where clients find the server, an origin such as `https://build.example.com`: links name it, and `Host` may. */
  readonly publicUrl?: string;
  /** A file with the token that opens `/metrics`. */
  readonly metricsTokenFile?: string;
  /** Further names that may stand in `Host`. */
  readonly allowHosts?: readonly string[];
  /** Whether every request is told, not only what went wrong. */
  readonly verbose?: boolean;
  /** OpenTelemetry spans, for the one who has registered a tracer provider. */
  readonly tracing?: boolean;
  /** Milliseconds without use after which it is to end; left out, it serves until it is asked to. */
  readonly idleMs?: number;
  /** Takes a free port where the config's is in use: hooks find it by its state directory. */
  readonly anyPort?: boolean;
  /** Where structured lines go, one JSON value each. */
  log(line: string): void;
  /** Awaited once nothing is wrong with what is asked for here, before anything is opened. */
  settled?(): Promise<void>;
}

/** A server that answers. */
export interface RunningServer {
  /** Where this machine reaches it. */
  readonly url: string;
  /** Where clients find it: what links begin with. */
  readonly origin: string;
  readonly pid: number;
  readonly open: OpenProject;
  /** A link that signs a human in once; null where no human is set up. */
  signInLink(human: UnlockedHuman | null): Promise<string>;
  /** Settles when nothing has used it for the time that was asked for. */
  readonly idle: Promise<void>;
  /** Takes nothing new in, finishes what is under way, and leaves leases as they are. */
  close(): Promise<void>;
}

/** Opens the server of a project; there is at most one. */
export type OpenServer = (request: ServeRequest) => Promise<RunningServer>;

/** One property that the ring `isolated` stands on. */
export interface IsolationFinding {
  readonly name: string;
  readonly holds: boolean;
  readonly message: string;
  readonly nextStep?: string;
}

/** Whose engine is to be isolated from whom. */
export interface IsolateRequest {
  readonly workspace: string;
  /** The folder in which every isolated project has one. */
  readonly base: string;
  /** Default: the name of the workspace's folder. */
  readonly name?: string;
  readonly engineUser: string;
  readonly checkUser: string;
  readonly group: string;
  readonly agentUsers: readonly string[];
}

/** One thing that is done, in words. */
export interface IsolationStep {
  readonly text: string;
  /** Whether it was as it should be already. */
  readonly done: boolean;
}

/** What was set up. */
export interface IsolationMade {
  readonly plan: string;
  /** A command line as the engine's user, for root. */
  readonly command: string;
  readonly unit: string;
  readonly sockets: readonly { readonly user: string; readonly url: string }[];
  readonly systemd: boolean;
}

/** Steps that nobody has taken yet. */
export interface Intended<T> {
  readonly steps: readonly IsolationStep[];
  carryOut(told: (step: IsolationStep) => void): T;
}

/** Runs the engine as another user than its agents. */
export interface Isolate {
  setup(request: IsolateRequest): Intended<IsolationMade>;
  /** Every property, and as root also what each user can do in fact. */
  check(request: IsolateRequest): { readonly findings: readonly IsolationFinding[]; readonly tried: boolean };
  /** Without `state`, the state and the users stay. */
  remove(request: IsolateRequest, what: { readonly state: boolean }): Intended<void>;
}

/** A program that is to work on a run as an agent. */
export interface SpawnRequest {
  readonly project: Project;
  readonly open: OpenProject;
  /** The run to work on; null for the next one in the queue. */
  readonly run: string | null;
  readonly adapter: 'subprocess' | 'tmux';
  /** What the agent's name begins with. */
  readonly name: string;
  readonly capabilities: readonly string[];
  /** The program and its words, without a shell; `{prompt}` stands for the path of the prompt file. */
  readonly argv: readonly [string, ...string[]];
  /** The name of a client that Phasegate knows how to start, in place of `argv`. */
  readonly preset?: string;
  /** Waits for a run when none is queued. */
  readonly wait: boolean;
  /** Waits at a gate until a human has acted, and goes on. */
  readonly waitForHuman: boolean;
  /** Never starts the program a second time for the same run. */
  readonly once: boolean;
  /** Has the program in a sandbox of the phase, started anew for every phase. */
  readonly sandbox?: boolean;
  /** Where the program's output goes; null for stderr. */
  readonly logFile: string | null;
  /** Ends the program and gives the run back. */
  readonly signal: AbortSignal;
  report(event: SpawnEvent): void;
}

/** Something that happened to a spawned agent. */
export type SpawnEvent =
  | { readonly event: 'waiting_for_work'; readonly agent: string }
  | {
      readonly event: 'claimed';
      readonly agent: string;
      readonly run: string;
      readonly phase: PhaseId | null;
      readonly item: string | null;
    }
  | {
      readonly event: 'started';
      readonly agent: string;
      readonly run: string;
      readonly start: number;
      readonly where: string;
    }
  | { readonly event: 'exited'; readonly agent: string; readonly run: string; readonly how: string }
  | { readonly event: 'lost'; readonly agent: string; readonly run: string; readonly why: string }
  | { readonly event: 'waiting_for_human'; readonly agent: string; readonly run: string };

/** What came of it all. */
export interface Spawned {
  readonly agent: string;
  readonly run: string | null;
  /** `completed` also where the one item that was claimed is done. */
  readonly outcome:
    | 'completed'
    | 'waiting'
    | 'escalated'
    | 'stopped'
    | 'crashed'
    | 'taken'
    | 'interrupted'
    | 'removed'
    | 'nothing_queued';
  readonly status: RunStatus | null;
  readonly phase: PhaseId | null;
  /** How often the program was started. */
  readonly starts: number;
  readonly message: string;
}

/** Starts an agent and follows it to its end. */
export type SpawnAgent = (request: SpawnRequest) => Promise<Spawned>;
