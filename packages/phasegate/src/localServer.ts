import { randomUUID, type X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { own, PhasegateError, type Principal } from '@phasegate/core';
import { REQUEST_LIMIT } from '@phasegate/core/contract';
import { loadConfig } from './config.ts';
import { dashboardFiles } from './dashboardFiles.ts';
import { type HookDoor, openHookDoor } from './hookDoor.ts';
import { createIdleEnd, type IdleEnd } from './idleEnd.ts';
import { type Isolated, isolatedProject, isolationOf, socketsFor } from './localIsolation.ts';
import { mountHooks } from './mountHooks.ts';
import { openPasskeyPlace } from './passkeyPlace.ts';
import { endInOrder } from './runtime/endInOrder.ts';
import type { OpenProject, RunningServer, ServeRequest, TransitionRequest } from './runtime/ports.ts';
import { certificateOf, readMetricsToken, readTls } from './serverCredentials.ts';
import { CHALLENGE_HEADER, PROOF_HEADER, type ServerPlace, takeServerPlace } from './serverFile.ts';
import { VERSION } from './surfaces/cli/version.ts';
import { attachedFor, buildMcpServer, createMcpFetchHandler } from './surfaces/mcp/index.ts';
import { createRestApp, type RestApp } from './surfaces/rest/createRestServer.ts';
import type { HotRoutes } from './surfaces/rest/hotRoutes.ts';
import { type HttpOptions, type HttpServer, serveHttp } from './surfaces/rest/httpServer.ts';
import { createLog } from './surfaces/rest/log.ts';
import type { McpMount, RestParts, RestSettings } from './surfaces/rest/parts.ts';
import { demandSafeBinding } from './surfaces/rest/safeBinding.ts';

/**
 * Serves a project on one port: REST, MCP, events, health. There is one server per project; it keeps watch over
 * leases, gates and webhooks, and is the place agents and humans on this machine find it by.
 */
export async function openLocalServer(request: ServeRequest): Promise<RunningServer> {
  const { project } = request;
  const host = request.host ?? '127.0.0.1';
  demandSafeBinding({ host, tls: request.tls !== undefined, behindProxy: request.behindProxy === true });
  const tls = request.tls === undefined ? undefined : readTls(request.tls);
  const metricsToken =
    request.metricsTokenFile === undefined ? undefined : readMetricsToken(request.metricsTokenFile);
  const port = request.port ?? (await loadConfig(project.root)).port;
  await request.settled?.();
  mkdirSync(project.stateDir, { recursive: true, mode: 0o700 });
  const isolation = isolationOf(project.root);
  const place = await takeServerPlace(project.stateDir);
  return serve(request, place, { host, port, tls, metricsToken, isolation }).catch((error: unknown) => {
    place.leave();
    throw error;
  });
}

interface Binding {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly metricsToken: string | undefined;
  /** Null where the engine is not isolated. */
  readonly isolation: Isolated | null;
}

async function serve(request: ServeRequest, place: ServerPlace, binding: Binding): Promise<RunningServer> {
  const { isolation } = binding;
  const opened = await request.project.open();
  const open = isolation === null ? opened : isolatedProject(opened, isolation);
  const idle = createIdleEnd(request.idleMs);
  const begun: (() => unknown)[] = [];
  try {
    await open.server.attachServers();
    const listening = await listen(request, open, { ...binding, place, idle });
    const { app, url, origin, hookSocket } = listening;
    begun.push(listening.close, () => app.close());
    const watch = open.server.watch();
    begun.push(() => watch.stop());
    const anchoring = await request.project.anchors.keep(open, request.log);
    begun.push(() => anchoring.stop());
    await open.server.note('server_started', ENGINE, { url, pid: process.pid });
    const certificate =
      binding.tls === undefined ? {} : { certificate: certificateOf(binding.tls.cert).fingerprint256 };
    place.announce({
      url,
      pid: process.pid,
      started_at: new Date().toISOString(),
      ...certificate,
      ...(hookSocket === null ? {} : { socket: hookSocket }),
      ...(request.idleMs === undefined ? {} : { idle_ms: request.idleMs }),
    });
    let closed: Promise<void> | undefined;
    const close = async () => {
      idle.stop();
      // In this order: nothing new comes in, what is under way is answered, and only then is the store let go.
      await endInOrder([
        listening.close,
        () => app.close(),
        () => anchoring.stop(),
        () => watch.stop(),
        () => open.server.note('server_stopped', ENGINE, { url, pid: process.pid }),
        () => request.project.standards.close(),
        () => open.close(),
        () => place.leave(),
      ]);
    };
    return {
      url,
      origin,
      pid: process.pid,
      open,
      signInLink: (human) => app.signInLink(human),
      idle: idle.passed,
      close: () => {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    idle.stop();
    // Whatever is left open, a port above all, would keep the process from ending.
    await endInOrder([...begun, () => request.project.standards.close(), () => open.close()]).catch(
      () => undefined,
    );
    throw error;
  }
}

const ENGINE: Principal = { kind: 'engine', name: 'phasegate' };
const MOST_STREAMS = 64;

interface Listening {
  close(): Promise<void>;
  readonly app: RestApp;
  readonly url: string;
  readonly origin: string;
  readonly hookSocket: string | null;
}

interface Serving extends Binding {
  readonly place: ServerPlace;
  readonly idle: IdleEnd;
}

async function listen(request: ServeRequest, open: OpenProject, binding: Serving): Promise<Listening> {
  let app: RestApp | undefined;
  const built = () => {
    if (app === undefined) throw new TypeError('a request came before the port was known');
    return app;
  };
  const served = (peer?: string): Pick<HttpOptions, 'app' | 'hot'> => ({
    app: {
      fetch: (incoming, env) => built().fetch(incoming, peer === undefined ? env : { ...env, peer }),
      endStreams: () => app?.endStreams(),
    },
    hot: countingUse(binding.idle, () => app?.hot ?? null, peer),
  });
  // The port comes first: with `--port 0` nobody knows the server's own address before.
  const at = (port: number, host = binding.host === 'localhost' ? '127.0.0.1' : binding.host) =>
    serveHttp({ ...served(), host, port, ...(binding.tls === undefined ? {} : { tls: binding.tls }) });
  const http = await at(binding.port).catch((error: unknown) => {
    if (request.anyPort === true && own(own(error, 'cause'), 'code') === 'EADDRINUSE') return at(0);
    throw error;
  });
  const url = urlOf(request, binding, http.port);
  const reached = settingsOf(request, binding, url);
  const passkeys = await openPasskeyPlace({
    ...binding,
    origin: reached.origin,
    named: request.publicUrl !== undefined,
    port: http.port,
    tls: binding.tls !== undefined,
    also: (host) => at(http.port, host),
  });
  let door: HookDoor | undefined;
  const proofOf = (challenge: string) => {
    // The one who looks for the server may be a hook that did not find its socket.
    door?.keep();
    return binding.place.proofOf(challenge);
  };
  const settings = {
    ...reached,
    passkeys: passkeys.place,
    identity: { asked: CHALLENGE_HEADER, shown: PROOF_HEADER, proofOf },
  };
  const { catalog, standards } = request.project;
  const log = createLog({
    verbose: request.verbose === true,
    to: { write: (line: string) => request.log(line.trimEnd()) },
  });
  const parts: Omit<RestParts, 'mcp'> = {
    project: open,
    signIns: await open.signIns(),
    catalog,
    standards,
    version: VERSION,
    settings,
    log,
    // Of what this process alone remembers: counts of tries, and sign-ins where no node shares the store. What is written
    // goes by the clock of the store.
    now: Date.now,
    hooks: mountHooks(request.project.stateDir, () => built().project, log),
    pages: dashboardFiles(),
  };
  app = createRestApp({ ...parts, mcp: mountMcp(parts, () => built().project) });
  const listeners = [http, ...(passkeys.listener === null ? [] : [passkeys.listener])];
  try {
    for (const { agent, ...socket } of socketsFor(request, binding.isolation)) {
      listeners.push(await serveHttp({ ...served(agent), socket }));
    }
  } catch (error) {
    await closeAll(listeners);
    await app.close();
    throw error;
  }
  const opened = await openHookDoor(request.project.stateDir, served().app, {
    hot: countingUse(binding.idle, () => null),
    log: request.log,
  });
  door = opened;
  return {
    close: async () => {
      await opened.close();
      await closeAll(listeners);
    },
    app,
    url,
    origin: settings.origin,
    hookSocket: opened.socket,
  };
}

/** Every request passes here before anything else looks at it. */
function countingUse(idle: IdleEnd, hot: () => HotRoutes | null, peer?: string): () => HotRoutes {
  return () => ({
    take(request, response) {
      idle.begin(request, response);
      return hot()?.take(request, response, peer) === true;
    },
  });
}

async function closeAll(listeners: readonly HttpServer[]): Promise<void> {
  await Promise.all(listeners.map((listener) => listener.close()));
}

/** MCP for the callers that the door let in: a server for each agent, bound to the run where a phase token was shown. */
function mountMcp(parts: Omit<RestParts, 'mcp'>, project: () => OpenProject): McpMount {
  const { catalog, standards, version, settings, log } = parts;
  const hosts = [
    ...settings.hosts,
    ...settings.hosts.filter((name) => name.includes(':')).map((v6) => `[${v6}]`),
  ];
  const callers = new WeakMap<object, Parameters<McpMount['fetch']>[1]>();
  const toldOf = createTold();
  const handler = createMcpFetchHandler({
    newSessionId: randomUUID,
    agentOf: (authInfo) => (authInfo?.extra === undefined ? '' : (callers.get(authInfo.extra)?.agent ?? '')),
    hosts,
    origins: hosts,
    onerror: (error) => log.warn({ cause: error.message }, 'mcp'),
    async serverFor({ authInfo, era }) {
      const caller = authInfo?.extra === undefined ? undefined : callers.get(authInfo.extra);
      if (caller === undefined) throw new PhasegateError('not_permitted', 'nobody was authenticated');
      const agent = { kind: 'agent', name: caller.agent } as const;
      const { admitted } = caller;
      const whole = project();
      return buildMcpServer({
        phasegate: whole.as(agent),
        agent: agent.name,
        catalog,
        standards,
        version,
        run: caller.run ?? undefined,
        item: admitted?.item ?? undefined,
        // Request by request there is no connection that could remember what its agent was told.
        epochs: era === 'modern' ? toldOf(agent.name) : undefined,
        answers: {
          keep: (text) => whole.answers.keep(agent.name, text),
          page: (id, page) => whole.answers.page(agent.name, id, page),
        },
        forRequest: (carried) => partsFor(whole, carried === undefined ? null : callers.get(carried)),
        attached: await attachedFor(whole, {
          agent,
          admitted: (carried) => (carried === undefined ? null : (callers.get(carried)?.admitted ?? null)),
        }),
      });
    },
  });
  return {
    fetch(incoming, caller) {
      const extra = {};
      callers.set(extra, caller);
      // A session belongs to the one who opened it; with a token, also to its run.
      const clientId = JSON.stringify([caller.agent, caller.run]);
      return handler.fetch(incoming, { authInfo: { token: '', clientId, scopes: [], extra } });
    },
    close: () => handler.close(),
  };
}

/** What each agent was last told of its runs; of many only the newest are kept. */
function createTold(): (agent: string) => Map<string, number> {
  const agents = new Map<string, Map<string, number>>();
  return (agent) => {
    const told = agents.get(agent) ?? new Map<string, number>();
    if (told.size > MOST_TOLD) told.clear();
    agents.delete(agent);
    agents.set(agent, told);
    for (const oldest of agents.keys()) {
      if (agents.size <= MOST_TOLD) break;
      agents.delete(oldest);
    }
    return told;
  };
}

const MOST_TOLD = 1000;

/** What the token of one request is good for: its epoch, its item, and one transition. */
function partsFor(project: OpenProject, caller: Parameters<McpMount['fetch']>[1] | null | undefined) {
  const admitted = caller?.admitted ?? null;
  if (admitted === null) return { item: undefined, transition: undefined };
  return {
    phasegate: project.as(admitted.principal, { admitted }),
    item: admitted.item ?? undefined,
    transition: (request: TransitionRequest) => project.claims.transition(admitted, request),
  };
}

const LOOPBACK = ['localhost', '127.0.0.1', '::1'];
const EVERYWHERE = ['0.0.0.0', '::', ''];

/**
 * What this machine reaches the server by, and agents that are started here are told. INVARIANT: it is an address of
 * this machine or a name that was allowed, and where there is one, a name the certificate is for.
 */
function urlOf({ allowHosts = [] }: ServeRequest, { host, tls }: Binding, port: number): string {
  const local = tls === undefined ? '127.0.0.1' : nameIn(certificateOf(tls.cert), allowHosts);
  const name = EVERYWHERE.includes(host) ? local : host;
  return `${tls === undefined ? 'http' : 'https'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function nameIn(certificate: X509Certificate, allowHosts: readonly string[]): string {
  const isFor = (name: string) =>
    (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  return [...allowHosts, ...LOOPBACK].find(isFor) ?? allowHosts[0] ?? 'localhost';
}

function settingsOf(request: ServeRequest, binding: Binding, url: string): RestSettings {
  const { host, tls, metricsToken, isolation } = binding;
  const { allowHosts = [], behindProxy = false, publicUrl, verbose = false, tracing = false } = request;
  const [outside] = allowHosts;
  // Behind a proxy a browser knows the server by the proxy's name.
  const proxied = behindProxy && outside !== undefined ? `https://${outside}` : url;
  const named = publicUrl === undefined ? [] : [new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1')];
  return {
    origin: publicUrl ?? proxied,
    hosts: [...new Set([...LOOPBACK, ...(EVERYWHERE.includes(host) ? [] : [host]), ...allowHosts, ...named])],
    secure: tls !== undefined || (publicUrl?.startsWith('https:') ?? behindProxy),
    // What comes from this machine may come from a proxy, whatever it says of itself.
    behindProxy: behindProxy || publicUrl !== undefined,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(metricsToken === undefined ? {} : { metricsToken }),
    ...(isolation === null ? {} : { isolation }),
    maxBody: REQUEST_LIMIT,
    maxStreams: MOST_STREAMS,
    verbose,
    tracing,
  };
}
