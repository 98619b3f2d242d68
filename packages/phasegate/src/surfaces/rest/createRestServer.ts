import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { getPath } from 'hono/utils/url';
import { createFairStarts, createSingleStarts } from '../../limits/fairStarts.ts';
import type { UnlockedHuman } from '../../runtime/ports.ts';
import { createActs } from './acts.ts';
import { registerAuditExport } from './auditExport.ts';
import { bindAgain, cookieIn, createCallers, nameOf, wrongKind } from './callers.ts';
import { createCredentialRefusals } from './credentialRefusals.ts';
import { createEventStreams } from './events.ts';
import { guardProvenance, guardResponse } from './guards.ts';
import { createHealth } from './health.ts';
import { hookRoute, isHook } from './hookRoute.ts';
import { createHotRoutes, type HotRoutes } from './hotRoutes.ts';
import { instrumentProject } from './instrumentProject.ts';
import { guardJsonBody } from './jsonBody.ts';
import { paceBodies, withinLimit } from './largeBodies.ts';
import { guardAgainstWorkers } from './leftBehind.ts';
import { createLines, type Lines, nothing, type Stranger } from './lines.ts';
import { countRequests } from './log.ts';
import { methodsOf } from './methodsOf.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Caller, McpCaller, McpMount, RestEnv, RestParts, RouteParts } from './parts.ts';
import { createChallenges } from './passkeys/challenges.ts';
import { createPassphraseTries } from './passphraseTries.ts';
import { humanAtSocket } from './peers.ts';
import { splitPlace } from './place.ts';
import { problemOf, RequestRefused } from './problem.ts';
import { textOfAct } from './routes/actTexts.ts';
import { ENDPOINTS, registerRoutes } from './routes/index.ts';
import { registerSessionList } from './sessionList.ts';
import { registerSessionRoutes } from './sessionRoutes.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createSignIn } from './signIn.ts';
import { createTracing } from './tracing.ts';

/** All of the HTTP surface, without a port. */
export interface RestApp {
  fetch(request: Request, env?: RestEnv['Bindings']): Response | Promise<Response>;
  /** As `fetch`, from a path and its options. */
  request(path: string, init?: RequestInit, env?: RestEnv['Bindings']): Response | Promise<Response>;
  /** A link that signs in once; for the operator's own terminal and nowhere else. */
  signInLink(human: UnlockedHuman | null): Promise<string>;
  /** The project as the routes see it: counted and traced. What serves beside them should use it too. */
  readonly project: RestParts['project'];
  readonly metrics: Metrics;
  /** The routes that are answered before Hono; null where every request is to be logged or traced. */
  readonly hot: HotRoutes | null;
  /** Ends event streams and says that the server is not ready any more; what is under way goes on. */
  endStreams(): void;
  close(): Promise<void>;
}

/** Builds it: the guards, then who calls, then the routes. */
export function createRestApp(given: RestParts): RestApp {
  const { settings, log } = given;
  const metrics = createMetrics(given.project, given.version);
  const tracing = createTracing(settings.tracing === true);
  const parts = { ...given, project: instrumentProject(given.project, metrics, tracing) };
  const rows = parts.signIns.rows(parts.now);
  const sessions = createSessions(parts, rows);
  const refusals = createCredentialRefusals(parts, metrics);
  const tries = createPassphraseTries(parts);
  const signIn = createSignIn(parts, { sessions, refusals, tries });
  const streams = createEventStreams(parts, metrics);
  const health = createHealth(parts, metrics);
  // Here a body is read, and a tool carried out, after the beginning.
  const starts = createSingleStarts();
  const lines = createLines(starts);
  const callers = createCallers(parts, { sessions, refusals, lines });

  // A browser's session has a path of its own, with everything below it; routes, logs and answers do not see it.
  const app = new OpenAPIHono<RestEnv>({ getPath: (request) => splitPlace(getPath(request)).path });
  app.onError((error, c) => {
    metrics.storeFault(error);
    return problemOf(understood(error), c.req.path, log);
  });
  app.notFound((c) => noRoute(app, c));
  app.use(guardResponse);
  app.use(countRequests(log, metrics, settings.verbose === true));
  if (tracing.request !== null) app.use(tracing.request);
  app.use(refusedInLine(guardProvenance(settings), lines));
  app.use(refusedInLine(guardAgainstWorkers(parts), lines));
  app.use(pagesInLine(sessions, lines));
  /** INVARIANT: through an agent's socket nobody signs in, by a page no more than by the API. */
  const demandNoAgent = async (c: Context<RestEnv>): Promise<void> => {
    const { peer } = c.env ?? {};
    if (peer !== undefined) throw await refusals.settle(c, humanAtSocket(peer));
  };
  // Anyone who signs in has no credential yet, and perhaps the cookie of a session that has ended.
  app.use('/api/*', async (c, next) => {
    if (!signsIn(c)) return callers(c, next);
    await lines.asStranger(c, 'signing in', nothing);
    await demandNoAgent(c);
    return bindNobody(c, next);
  });
  for (const page of ['/', '/sign-in', '/sign-out']) {
    app.use(page, async (c, next) => {
      await demandNoAgent(c);
      await next();
    });
  }
  const inTurn = beginInTurn(lines);
  const paced = paceBodies(parts);
  app.use('/api/*', inTurn, paced, guardBodies(settings));
  app.use('/mcp', callers, inTurn, paced);

  app.get('/healthz', health.alive);
  app.get('/readyz', health.ready);
  app.get('/metrics', health.callerOfMetrics(callers), inTurn, health.metricsGuard, health.metrics);
  registerSessionRoutes(app, parts, { sessions, signIn });
  const routeParts: RouteParts = {
    ...parts,
    challenges: createChallenges({ rows, key: parts.signIns.challengeKey() }),
    textOf: (act, session) => textOfAct(act, session, routeParts),
  };
  const acts = createActs({ signIn, parts: routeParts });
  registerSessionList(app, parts, { sessions, acts });
  registerAuditExport(app, parts);
  app.get('/api/v1/events', streams.handler);
  const { mcp, hooks } = parts;
  if (hooks !== undefined) app.post('/api/v1/hooks/:client', hookRoute(hooks, starts));
  if (mcp !== null) app.all('/mcp', (c) => serveMcp(c, mcp, settings.maxBody));
  registerRoutes(app, routeParts, acts);

  return {
    fetch: (request, env) => app.fetch(request, env ?? {}),
    request: (path, init, env) => app.request(path, init, env ?? {}),
    signInLink: async (human) => `${settings.origin}/sign-in?code=${await sessions.newCode(human)}`,
    project: parts.project,
    metrics,
    hot:
      settings.verbose === true || settings.tracing === true
        ? null
        : createHotRoutes({ parts, metrics, starts: createFairStarts(), routes: HOT_ROUTES }),
    endStreams() {
      health.leave();
      streams.close();
      tries.close();
    },
    async close() {
      health.leave();
      streams.close();
      tries.close();
      await mcp?.close();
    },
  };
}

/** What every agent asks all day long. */
const HOT_ROUTES = ENDPOINTS.filter(({ operationId }) =>
  ['checkTool', 'requestTransition'].includes(operationId),
);

/** Bodies are read for the one who has a credential, and a small one for anyone who wants one: nobody fills the memory unnamed. */
function guardBodies(settings: RestParts['settings']): MiddlewareHandler<RestEnv> {
  const whole = guardJsonBody(settings);
  const small = guardJsonBody({ maxBody: LARGEST_SIGN_IN });
  return (c, next) => {
    if (signsIn(c)) return small(c, next);
    if (isHook(c.req.path)) return next();
    if (c.get('caller').kind === 'nobody') return next();
    return whole(c, async () => {
      await bindAgain(c);
      await next();
    });
  };
}

const LARGEST_SIGN_IN = 16 * 1024;

/** Anyone who sends many requests at once waits for themselves; each is a connection, and there is an end of those. */
function beginInTurn(lines: Lines): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    const caller = c.get('caller') as Caller | undefined;
    // Those who show the token of metrics are nobody.
    if (caller === undefined) return next();
    // Hooks of all sessions have one name: their route tells the large from the small.
    const name = caller.kind === 'hook' && isHook(c.req.path) ? null : nameOf(caller);
    // Those that nobody is named by had their turn among strangers.
    if (name === null || name === c.get('begunAs')) return next();
    return lines.as(name, next);
  };
}

/** Whom a guard turns away waits among strangers to be told so. */
function refusedInLine(guard: MiddlewareHandler<RestEnv>, lines: Lines): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    try {
      return await guard(c, next);
    } catch (error) {
      await lines.asStranger(c, 'refused', nothing);
      throw error;
    }
  };
}

/**
 * Pages, and paths where there is nothing, which need no caller: who was signed in has a line, and all others wait among
 * strangers. INVARIANT: nothing else is done in a stranger's turn. What comes after may need one, and would wait for itself.
 */
function pagesInLine(sessions: Sessions, lines: Lines): MiddlewareHandler<RestEnv> {
  return async (c, next) => {
    const { path } = c.req;
    // Probes ask nobody, and are how a server is known to be there: no flood keeps them waiting.
    if (/^\/(api(\/|$)|(mcp|metrics|healthz|readyz)$)/.test(path)) return next();
    const shown = cookieIn(c);
    const name = sessions.holderOf(shown);
    if (name !== null) return lines.as(name, next);
    await lines.asStranger(c, strangerAt(path, shown.secrets.length > 0), nothing);
    return next();
  };
}

function strangerAt(path: string, showsSession: boolean): Stranger {
  if (path === '/sign-in') return 'signing in';
  return showsSession ? 'session' : 'nobody';
}

function signsIn(c: Context<RestEnv>): boolean {
  return c.req.method === 'POST' && c.req.path === '/api/v1/session';
}

function bindNobody(c: Context<RestEnv>, next: () => Promise<void>): Promise<void> {
  c.set('caller', { kind: 'nobody' });
  return next();
}

async function serveMcp(c: Context<RestEnv>, mcp: McpMount, maxBody: number): Promise<Response> {
  // Before its body is read: a stranger's is not.
  mcpCaller(c);
  const request = await withinLimit(c, maxBody);
  await bindAgain(c);
  return mcp.fetch(request, mcpCaller(c));
}

function mcpCaller(c: Context<RestEnv>): McpCaller {
  const caller = c.get('caller');
  if (caller.kind === 'agent') return { agent: caller.agent.principal.name, run: null, admitted: null };
  if (caller.kind !== 'token') throw wrongKind(caller, 'an agent key or a phase token');
  const { admitted } = caller;
  return { agent: admitted.principal.name, run: admitted.runId, admitted };
}

/** Hono has exceptions of its own for what it cannot read. */
function understood(error: unknown): unknown {
  if (!(error instanceof HTTPException) || error.status >= 500) return error;
  return new RequestRefused('request_invalid', 'the request cannot be read', { status: 422 });
}

function noRoute(app: OpenAPIHono<RestEnv>, c: Context<RestEnv>): Response {
  const methods = methodsOf(app.routes, c.req.path);
  const refusal =
    methods.length === 0
      ? new RequestRefused('route_unknown', 'there is no such route')
      : new RequestRefused('route_unknown', `\`${c.req.method}\` is not a method of this route`, {
          status: 405,
          headers: { allow: methods.join(', ') },
        });
  return problemOf(refusal, c.req.path);
}
