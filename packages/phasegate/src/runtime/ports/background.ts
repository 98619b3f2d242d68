/** A server as its own file names it. */
export interface ServerEntry {
  readonly url: string;
  readonly pid: number;
  readonly started_at: string;
  /** SHA-256 of its certificate, where it speaks TLS. */
  readonly certificate?: string;
  /** The socket by which hooks reach it. */
  readonly socket?: string;
  /** After how long without use it ends by itself, in milliseconds; left out, it does not. */
  readonly idle_ms?: number;
}

/** What is to be seen of the server of a project. */
export type ServerState =
  | { readonly state: 'running'; readonly entry: ServerEntry }
  /** A process has the place of the server, and has not said where it is or does not answer there. */
  | { readonly state: 'silent'; readonly entry: ServerEntry | null }
  /** Something answers where the server said it is, and cannot show that it is the server. */
  | { readonly state: 'impostor'; readonly entry: ServerEntry }
  | { readonly state: 'none' };

/** A server that showed its key, and whether it was started for this. */
export interface FoundServer extends ServerEntry {
  readonly started: boolean;
}

/** Finds the server of a project, or starts it in the background; throws `server_unreachable` after the deadline. */
export type EnsureServer = (request: {
  readonly root: string;
  readonly stateDir: string;
  readonly deadlineMs: number;
  /** A duration such as `1h`: how long nothing may use it before it ends by itself. */
  readonly idle: string;
}) => Promise<FoundServer>;

/** The server of a project as a process beside the others. */
export interface BackgroundServer {
  readonly ensure: EnsureServer;
  /** Looks without starting anything. */
  look(stateDir: string): Promise<ServerState>;
  /** Asks it to end and waits for that; null where there was none. Throws `server_unreachable`. */
  end(stateDir: string, deadlineMs: number): Promise<ServerEntry | null>;
}
