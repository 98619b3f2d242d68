/** What a worker is told: where work comes from, what does it, and what it is done in. */
export interface WorkerRequest {
  /** Of the server. */
  readonly url: string;
  /** Whether credentials may go over plain `http` to another machine. */
  readonly insecureHttp: boolean;
  /** One for each agent at a time: no two that work at once have the same credential. */
  readonly keys: readonly string[];
  readonly argv: readonly [string, ...string[]];
  /** A client that is known, in place of those words. */
  readonly preset?: string;
  readonly capabilities: readonly string[];
  /** A repository that is cloned for each run; null: an empty folder, and the server's tools. */
  readonly repository: WorkerRepository | null;
  /** The folder in which workspaces are made, in one of the worker's own; null: where temporary files are. */
  readonly folder: string | null;
  /** Leaves workspaces where they are. */
  readonly keep: boolean;
  /** How long to wait where nothing is queued. */
  readonly pollMs: number;
  /** How often the lease of a run at work is renewed. */
  readonly beatMs: number;
  /** How long agents may go on once the worker is asked to end; then they are ended, and their runs given back. */
  readonly drainMs: number;
  /** Ends after so many runs; null: only when asked to. */
  readonly runs: number | null;
  /** Appended what programs print; null: it goes to stderr. */
  readonly logFile: string | null;
  readonly signal: AbortSignal;
  report(event: WorkerEvent): void;
}

/** What is cloned for each run. */
export interface WorkerRepository {
  readonly url: string;
  /** What the run's branch begins at; null: what the repository itself begins with. */
  readonly ref: string | null;
  /** Whether the run's branch is pushed there when its agent has ended. */
  readonly push: boolean;
}

/** What a worker tells while it works. */
export type WorkerEvent =
  | { readonly event: 'waiting_for_work'; readonly agent: string }
  /** Without an agent where the server has not said yet whose the key is. */
  | { readonly event: 'unreachable'; readonly agent: string | null; readonly why: string }
  | { readonly event: 'claimed'; readonly agent: string; readonly run: string; readonly phase: string | null }
  | { readonly event: 'started'; readonly agent: string; readonly run: string; readonly where: string }
  | { readonly event: 'lease_lost'; readonly agent: string; readonly run: string }
  | {
      readonly event: 'ended';
      readonly agent: string;
      readonly run: string;
      readonly outcome: WorkOutcome;
      readonly how: string;
    }
  /** Programs end at once, before their work is done: the wait before the next claim, which grows with each; 0 where none follows. */
  | {
      readonly event: 'backing_off';
      readonly agent: string;
      readonly ms: number;
      /** The last lines the program printed. */
      readonly output: readonly string[];
    }
  | { readonly event: 'pushed'; readonly run: string; readonly branch: string }
  | { readonly event: 'kept'; readonly run: string; readonly folder: string; readonly why: string }
  | { readonly event: 'dropped'; readonly run: string; readonly files: number }
  | { readonly event: 'draining'; readonly running: number };

/**
 * What came of a run at this worker. `lost`: its program ended before the work was done, the engine counts
 * that, and the run is back in the queue; where it was one too often, it is `escalated`.
 * `given_back`: the worker was asked to end, or could not prepare the workspace. `not_given_back`: it
 * was to be, and the server could not do so: it is free when its lease ends. `left`: it is another's by now, or over.
 */
export type WorkOutcome =
  | 'completed'
  | 'waiting'
  | 'escalated'
  | 'stopped'
  | 'lost'
  | 'given_back'
  | 'not_given_back'
  | 'left';

/** What a worker did until it ended. */
export interface Worked {
  readonly runs: number;
  /** How often one of them was claimed: a run that goes back to the queue may be claimed again. */
  readonly attempts: number;
  readonly outcomes: Readonly<Partial<Record<WorkOutcome, number>>>;
}

/** Claims queued runs and starts agents for them, until it is asked to end. */
export type RunWorker = (request: WorkerRequest) => Promise<Worked>;
