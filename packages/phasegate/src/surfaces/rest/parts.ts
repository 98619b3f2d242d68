import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '@phasegate/core';
import type {
  Admitted,
  Catalog,
  IdentifiedAgent,
  OpenProject,
  SignIns,
  Standards,
  UnlockedHuman,
} from '../../runtime/ports.ts';
import type { PageFiles } from './pageFiles.ts';
import type { ActRequest } from './passkeys/actRequest.ts';
import type { Challenges } from './passkeys/challenges.ts';

/** What the REST surface is built from. */
export interface RestParts {
  readonly project: OpenProject;
  /** Of the same project. */
  readonly signIns: SignIns;
  readonly catalog: Catalog;
  readonly standards: Standards;
  /** Of this package. */
  readonly version: string;
  readonly settings: RestSettings;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after that many milliseconds. Default: timers. */
  readonly later?: (milliseconds: number) => Promise<void>;
  /** Serves MCP at `/mcp` for an agent that was authenticated here; null where it is not served. */
  readonly mcp: McpMount | null;
  /** Answers clients' hooks; absent where they are not answered here. */
  readonly hooks?: HookMount;
  /** The built pages; absent where they were not built: then a plain page shows what runs. */
  readonly pages?: PageFiles | undefined;
}

/** What routes are given. */
export interface RouteParts extends RestParts {
  /** What passkeys are challenged with. */
  readonly challenges: Challenges;
  /** What a human signs by an act, or proves with it. */
  textOf(act: ActRequest, session: HumanSession): Promise<string>;
}

/** Hooks of clients over HTTP. */
export interface HookMount {
  /** Whether there is such a client. */
  knows(client: string): boolean;
  /** Whether a secret is the key of this project's hooks. */
  isKey(secret: string): boolean;
  /** The largest event that is read. */
  readonly limit: number;
  /** Whose event it says it is, for whom it then waits. */
  sessionOf(body: string): string;
  /** A complete JSON object in the client's own words, whatever happened; a body of null was too large. */
  answer(event: {
    readonly client: string;
    readonly body: string | null;
    readonly run: string | undefined;
    readonly scope: string | undefined;
    /** PATH of the client. */
    readonly programs: string | undefined;
  }): Promise<Json>;
}

/** How the server may be reached. */
export interface RestSettings {
  /** Of the server itself, without a slash at the end, e.g. `http://127.0.0.1:8000`. */
  readonly origin: string;
  /** Names that may stand in `Host`, without a port: this machine's own, and what the operator named. */
  readonly hosts: readonly string[];
  /** Whether what comes in came by TLS, here or at a proxy: then cookies are `Secure`. */
  readonly secure: boolean;
  /** Whether a proxy forwards to the server: then a peer on this machine may speak for anyone. */
  readonly behindProxy?: boolean;
  /** Opens `/metrics` and nothing else; where there is one, being on this machine does not. */
  readonly metricsToken?: string;
  /** Where clients find the server, if the operator has said so: the document names it. */
  readonly publicUrl?: string;
  /** Which pages passkeys are for, or why there are none. */
  readonly passkeys?: PasskeyPlace;
  /** Largest body in bytes. */
  readonly maxBody: number;
  /** Most event streams at a time. */
  readonly maxStreams: number;
  /** One log line for every request; left out, only what goes wrong is logged. */
  readonly verbose?: boolean;
  /** How the server shows who it is to anyone who asks whether it is alive. */
  readonly identity?: ServerIdentity;
  /** Where the engine is isolated: agents come through their sockets alone, while nothing is wrong with that. */
  readonly isolation?: {
    /** What does not hold any more, or null. */
    problem(): string | null;
  };
  /** OpenTelemetry spans; left out, none are made and nothing is paid for them. */
  readonly tracing?: boolean;
}

/**
 * Which pages passkeys are for. INVARIANT: it is said by the one who serves and never read from a request: what stands
 * between a browser and this server can send any name.
 */
export type PasskeyPlace =
  /** Of the pages, with the port, e.g. `http://localhost:4114`. */
  | { readonly origin: string; readonly problem?: undefined }
  | { readonly origin: null; readonly problem: string };

/** The header a challenge comes in, the one its proof goes out in, and the proof. */
export interface ServerIdentity {
  readonly asked: string;
  readonly shown: string;
  proofOf(challenge: string): string;
}

/** What Hono's context carries on its way through the routes. */
export interface RestEnv {
  Variables: {
    /** Bound by the door, before any route. */
    caller: Caller;
    /** Who calls by now; absent where the whole request was there when the caller was bound. */
    identifyAgain?: () => Promise<Caller>;
    /** Whose turn it began in; absent where it has not had its caller's yet. */
    begunAs?: string;
    /** What the body says, read once by the door; an empty object where there was none. */
    body: Json;
    /** Whether the human's session still stands; asked by what outlives a request. */
    signedIn: () => Promise<boolean>;
  };
  /** Absent where a request did not come through a socket. */
  Bindings: Partial<{
    incoming: IncomingMessage;
    outgoing: ServerResponse;
    /** Whether it came by the socket for hooks, which only the server's own user reaches. */
    local: true;
    /** The agent whose socket it came through: nobody else can connect there. */
    peer: string;
  }>;
}

/** MCP over HTTP for one authenticated agent. */
export interface McpMount {
  fetch(request: Request, agent: McpCaller): Promise<Response>;
  close(): Promise<void>;
}

/** Who calls over MCP: an agent by its key, or by the token of one run. */
export interface McpCaller {
  readonly agent: string;
  /** The one run to serve, where a phase token was shown. */
  readonly run: string | null;
  readonly admitted: Admitted | null;
}

/** Where structured lines go. Never given a credential. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Who a request comes from, bound by its credential alone. */
export type Caller =
  | { readonly kind: 'nobody' }
  /** A hook of a client, by the socket that only this user reaches or with the project's key for hooks: good for `/hooks` alone. */
  | { readonly kind: 'hook' }
  | { readonly kind: 'agent'; readonly agent: IdentifiedAgent }
  | { readonly kind: 'token'; readonly admitted: Admitted }
  | { readonly kind: 'human'; readonly session: HumanSession };

/** A human who signed in. */
export interface HumanSession {
  /** Tells sessions apart; no secret. */
  readonly id: string;
  readonly name: string;
  /** Signs decisions; null for the operator, and where each act brings the passphrase. */
  readonly human: UnlockedHuman | null;
  /** Whether it is nobody in particular: anyone who used the server's link before any human was set up. */
  readonly operator: boolean;
  /** Whether looking is all it is good for: then an act needs the passphrase, for that act alone. */
  readonly asksPassphrase: boolean;
  /** ISO time. */
  readonly expiresAt: string;
}
