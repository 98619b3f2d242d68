import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { own, PhasegateError } from '@phasegate/core';
import { createConnections } from './connections.ts';
import { RESPONSE_HEADERS } from './guards.ts';
import type { HotRoutes } from './hotRoutes.ts';
import { createPipelines } from './pipelines.ts';
import { problemOf, RequestRefused } from './problem.ts';
import { bindSocket, cannotBind, type SocketFile } from './socketFile.ts';

/** What is served, where, and how patiently. */
export type HttpOptions = Served & (AtPort | AtSocket);

/** An address of this machine. */
interface AtPort {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** A socket in the file system. */
interface AtSocket {
  readonly socket: SocketFile;
}

interface Served {
  readonly app: {
    fetch(
      request: Request,
      env: { incoming: IncomingMessage; outgoing: ServerResponse; local?: true },
    ): Response | Promise<Response>;
    /** Ends what would never end by itself. */
    endStreams(): void;
  };
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Asked before the app, and so before its guards: what it takes it must guard itself. Null where nothing is to go that way. */
  readonly hot?: () => HotRoutes | null;
  readonly limits?: Partial<HttpLimits>;
}

/** How long a client may take. */
export interface HttpLimits {
  /** For all of the headers. */
  readonly headersMs: number;
  /** For all of the request. */
  readonly requestMs: number;
  /** Between requests. */
  readonly idleMs: number;
  /** Above it, those that ask for nothing make room. */
  readonly maxConnections: number;
  /** How long requests under way may still take when the server stops. */
  readonly graceMs: number;
}

/** A server that listens. */
export interface HttpServer {
  /** 0 where it is a socket in the file system. */
  readonly port: number;
  /** Takes no more, lets what is under way finish for a while, and ends the rest. */
  close(): Promise<void>;
}

/** A browser sends about twenty. */
const MOST_HEADERS = 200;

/** Listens. Throws `usage` where it cannot. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { app, hot, tls } = options;
  const limits = { ...LIMITS, ...options.limits };
  const settings = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    // How often the two before are looked at: rarely enough to be free.
    connectionsCheckingInterval: Math.max(20, Math.min(limits.headersMs, limits.requestMs) / 4),
  };
  const server = tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...tls });
  const connections = createConnections(limits.maxConnections);
  // For what is not known there yet, such as a handshake that is never finished.
  server.maxConnections = 2 * limits.maxConnections;
  // Node drops headers beyond a count without a word; their size is limited already, and every one is to be seen.
  server.maxHeadersCount = 0;

  const listener = getRequestListener(
    (request, env) => app.fetch(request, env as { incoming: IncomingMessage; outgoing: ServerResponse }),
    { overrideGlobalObjects: false, errorHandler: unreadable },
  );
  // Connections that have asked nothing yet: Node does not count them as idle.
  const silent = new Set<Socket>();
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  const underWay = new Set<ServerResponse>();
  let closing = false;
  const pipelines = createPipelines((request, response) => {
    silent.delete(request.socket);
    underWay.add(response);
    const end = connections.begin(request);
    response.on('close', () => {
      underWay.delete(response);
      end();
    });
    if (closing) response.setHeader('connection', 'close');
    // Before anything reads `headers`, which makes an object of them all: no caller is known yet who could be charged.
    if (request.rawHeaders.length > 2 * MOST_HEADERS) {
      response.writeHead(431, { connection: 'close' }).end();
      return;
    }
    if (hot?.()?.take(request, response) !== true) void listener(request, response);
  });
  server.on('request', pipelines.take);
  server.prependListener(tls === undefined ? 'connection' : 'secureConnection', connections.add);
  await listen(server, options);

  let closed: Promise<void> | undefined;
  const close = async () => {
    closing = true;
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const response of underWay) if (!response.headersSent) response.setHeader('connection', 'close');
    app.endStreams();
    // Those that nobody here has in hand, such as the ones clients of MCP keep open: they would never end by themselves.
    for (const response of underWay) if (isStream(response)) response.end();
    for (const socket of silent) socket.destroy();
    server.closeIdleConnections();
    const patience = setTimeout(() => server.closeAllConnections(), limits.graceMs);
    // A connection that went idle after its last answer would be kept open for its next request.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    await stopped;
    clearTimeout(patience);
    clearInterval(sweep);
  };
  return {
    port: 'socket' in options ? 0 : (server.address() as AddressInfo).port,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** What a client of MCP listens to goes on until one side ends it; a file that is cut off would look whole. */
function isStream({ req, headersSent }: ServerResponse): boolean {
  return headersSent && req.method === 'GET' && /^\/mcp(?:\?|$)/.test(req.url ?? '');
}

const LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 30_000,
  maxConnections: 4096,
  graceMs: 10_000,
};

function listen(server: Server, options: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) =>
      reject('socket' in options ? cannotBind(error, options.socket) : cannotListen(error, options));
    server.once('error', failed);
    const listening = () => {
      server.removeAllListeners('error');
      resolve();
    };
    if ('socket' in options) bindSocket(server, options.socket, listening);
    else server.listen({ host: options.host, port: options.port }, listening);
  });
}

function cannotListen(error: Error, { host, port }: AtPort): PhasegateError {
  const code = own(error, 'code');
  if (code === 'EADDRINUSE') {
    return new PhasegateError('usage', `port ${port} on \`${host}\` is in use`, {
      cause: error,
      hint: `another port: --port ${port + 1}, or --port 0 for any that is free`,
    });
  }
  const [reason, hint] = WHY_NOT.get(String(code)) ?? [
    error.message,
    'give another with `--host` or `--port`',
  ];
  return new PhasegateError('usage', `cannot listen on port ${port} of \`${host}\`: ${reason}`, {
    cause: error,
    hint,
  });
}

const WHY_NOT: ReadonlyMap<string, readonly [reason: string, hint: string]> = new Map([
  ['EACCES', ['the port may not be used by this user', 'take one from 1024 on: --port 8000']],
  ['EADDRNOTAVAIL', ['it is not an address of this machine', 'name one that it has, or --host 127.0.0.1']],
  ['ENOTFOUND', ['there is no such name', 'name an address of this machine, or --host 127.0.0.1']],
]);

/** For what does not even become a request, e.g. a host that is none. */
function unreadable(): Response {
  const response = problemOf(
    new RequestRefused('request_invalid', 'the request cannot be read', { status: 400 }),
  );
  for (const [name, value] of RESPONSE_HEADERS) response.headers.set(name, value);
  return response;
}
