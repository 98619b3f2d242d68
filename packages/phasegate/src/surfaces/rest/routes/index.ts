import { createRoute, type OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import { problem } from '@phasegate/wire/schemas';
import type { Context } from 'hono';
import type { Acts } from '../acts.ts';
import { apiPage, apiPageHtml } from '../apiPage.ts';
import { openApiDocument } from '../openapi.ts';
import type { RestEnv, RouteParts } from '../parts.ts';
import { PROBLEM_JSON } from '../problem.ts';
import { AGENT_ROUTES } from './agents.ts';
import { ANSWER_ROUTES } from './answers.ts';
import { AUDIT_ROUTES } from './audit.ts';
import { AUDIT_SEARCH_ROUTES } from './auditSearch.ts';
import { describeBesides } from './besides.ts';
import { responseTo } from './boundReply.ts';
import type { Answer, Call, Endpoint, Who } from './endpoint.ts';
import { FENCE_ROUTES } from './fence.ts';
import { HUMAN_ROUTES } from './humanActs.ts';
import { PASSKEY_ROUTES } from './passkeys.ts';
import { PEOPLE_ROUTES } from './people.ts';
import { demandCaller, whoMayCall } from './principals.ts';
import { readRequest } from './readRequest.ts';
import { PHASE_ROUTES } from './runPhase.ts';
import { RUN_ROUTES } from './runs.ts';
import { STATE_ROUTES } from './state.ts';
import { TASK_ROUTES } from './tasks.ts';
import { TOOL_ROUTES } from './tools.ts';
import { WATCHING_ROUTES } from './watching.ts';
import { WEBHOOK_ROUTES } from './webhooks.ts';
import { WORKFLOW_PAGE_ROUTES } from './workflowPages.ts';
import { WORKFLOW_ROUTES } from './workflows.ts';

/** Where the API stands. */
export const BASE = '/api/v1';

/** Every route of the API, in the order the document has them. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...TASK_ROUTES,
  ...TOOL_ROUTES,
  ...STATE_ROUTES,
  ...WATCHING_ROUTES,
  ...ANSWER_ROUTES,
  ...RUN_ROUTES,
  ...PHASE_ROUTES,
  ...HUMAN_ROUTES,
  ...FENCE_ROUTES,
  ...WORKFLOW_ROUTES,
  ...WORKFLOW_PAGE_ROUTES,
  ...AUDIT_ROUTES,
  ...AUDIT_SEARCH_ROUTES,
  ...AGENT_ROUTES,
  ...PEOPLE_ROUTES,
  ...PASSKEY_ROUTES,
  ...WEBHOOK_ROUTES,
];

/** Puts every route on the app, with the document and its page. Callers are bound and bodies read before these run. */
export function registerRoutes(app: OpenAPIHono<RestEnv>, parts: RouteParts, acts: Acts): void {
  const serve = (route: Endpoint) => {
    const config = configOf(route);
    app.on(route.method, config.getRoutingPath(), (c) => answer(c, route, { parts, acts }));
    return config;
  };
  for (const route of ENDPOINTS) app.openAPIRegistry.registerPath(serve(route));
  // Answered, and not in the document: nobody is told to call what is not built.
  describeBesides(app);
  // Anyone may ask, as often as they like: what is answered is put together once, down to its bytes.
  const document = once(() =>
    openApiDocument(app, { version: parts.version, url: parts.settings.publicUrl }),
  );
  const text = once(() => new TextEncoder().encode(JSON.stringify(document())));
  const page = once(() => new TextEncoder().encode(apiPageHtml(document())));
  app.get('/openapi.json', (c) => c.body(text(), 200, { 'content-type': 'application/json' }));
  app.get('/docs', () => apiPage(page()));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Who calls is asked before what they say is read: a caller that may not ask learns nothing of the shape. */
async function answer(
  c: Context<RestEnv>,
  route: Endpoint,
  { parts, acts }: { readonly parts: RouteParts; readonly acts: Acts },
): Promise<Response> {
  const who = c.get('caller');
  demandCaller(who, route);
  const caller = await acts(c, who, route);
  const read = readRequest({ params: c.req.param(), query: c.req.query(), body: c.get('body') }, route);
  const reply = await route.handle({ ...read, caller, parts, instance: c.req.path } as Call);
  return responseTo(reply, { caller, parts });
}

function configOf(route: Endpoint) {
  const { method, operationId, tag, who, summary, params, query, body } = route;
  const described = `${route.description}\n\nMay be called with ${whoMayCall(who)}.`;
  const request = {
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined
      ? {}
      : {
          body: {
            required: !body.safeParse({}).success,
            content: { 'application/json': { schema: body } },
          },
        }),
  };
  return createRoute({
    method,
    path: `${BASE}${route.path}`,
    operationId,
    tags: [tag],
    summary,
    description: described,
    security: securityOf(who),
    request: request as NonNullable<RouteConfig['request']>,
    responses: { ...answersOf(route.answers, 'application/json'), ...problemsOf(route) },
  });
}

/** A session is also taken as a bearer, by programs. A cookie is taken by the path of its session only. */
function securityOf(who: readonly Who[]): { readonly [scheme: string]: string[] }[] {
  return [{ bearerAuth: [] }, ...(who.includes('human') ? [{ cookieAuth: [] }] : [])];
}

function problemsOf(route: Endpoint): RouteConfig['responses'] {
  const takes = route.params !== undefined || route.query !== undefined || route.body !== undefined;
  const usual: Record<number, Answer> = {
    401: { description: 'no credential, or a bad one' },
    403: { description: 'a valid credential that does not open this' },
    ...(takes ? { 404: { description: 'there is no such thing' } } : {}),
    409: { description: 'refused by the workflow, or changed by someone else at the same time' },
    ...(route.body === undefined
      ? {}
      : {
          413: { description: 'over the size limit' },
          415: { description: 'the body is not `application/json`' },
        }),
    ...(takes ? { 422: { description: 'malformed; every problem is in `problems`' } } : {}),
    429: { description: 'over the rate limit' },
    503: { description: 'the store is not reachable' },
  };
  return answersOf({ ...usual, ...route.problems }, PROBLEM_JSON);
}

function answersOf(answers: Readonly<Record<number, Answer>>, type: string): RouteConfig['responses'] {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, example }]) => {
      const body = schema ?? (type === PROBLEM_JSON ? problem : undefined);
      if (body === undefined) return [status, { description }];
      const content = { [type]: { schema: body, ...(example === undefined ? {} : { example }) } };
      return [status, { description, content }];
    }),
  );
}
