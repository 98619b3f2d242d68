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
  /** Where structured lines go, one JSON value each. */
  log(line: string): void;
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
  signInLink(human: UnlockedHuman | null): string;
  /** Takes nothing new in, finishes what is under way, and leaves leases as they are. */
  close(): Promise<void>;
}

/** Opens the server of a project; there is at most one. */
export type OpenServer = (request: ServeRequest) => Promise<RunningServer>;

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
    | 'nothing_queued';
  readonly status: RunStatus | null;
  readonly phase: PhaseId | null;
  /** How often the program was started. */
  readonly starts: number;
  readonly message: string;
}

/** Starts an agent and follows it to its end. */
export type SpawnAgent = (request: SpawnRequest) => Promise<Spawned>;
