import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { actRequest, listOf, problem, textUpTo, time } from '@phasegate/wire/schemas';
import { HOOK_CLIENTS } from '../../../runtime/ports.ts';
import type { RestEnv } from '../parts.ts';
import { PROBLEM_JSON } from '../problem.ts';

const session = z
  .object({
    name: z.string(),
    kind: z.literal('human'),
    can_decide: z.boolean().openapi({ description: 'whether it is the session of a human who can decide' }),
    role: z
      .enum(['viewer', 'approver', 'admin'])
      .optional()
      .openapi({ description: 'of the human; left out for nobody in particular' }),
    asks_passphrase: z
      .boolean()
      .openapi({ description: 'whether each act needs `passphrase` or `passkey` in its body' }),
    expires_at: time,
    session: z.string().optional().openapi({ description: 'the secret, where `bearer` was asked for' }),
    path: z
      .string()
      .optional()
      .openapi({ description: 'where the cookie holds: the API is below it, e.g. `…/api/v1/runs`' }),
  })
  .openapi('Session');

const sessionRequest = z
  .strictObject({
    name: textUpTo(64).optional(),
    passphrase: textUpTo(1024).optional(),
    code: z.string().optional().openapi({ description: 'of the one-time link' }),
    bearer: z.boolean().optional().openapi({ description: 'answer with the secret instead of a cookie' }),
  })
  .openapi('SessionRequest', { example: { name: 'maria', passphrase: '…' } });

const sessionList = z
  .object({
    sessions: listOf(
      z.object({
        id: z.string(),
        name: z.string(),
        carrier: z.enum(['cookie', 'bearer']),
        made_at: time,
        used_at: time,
        expires_at: time,
        current: z.boolean().openapi({ description: 'whether it is the one that asks' }),
      }),
    ),
  })
  .openapi('SessionList');

const failures = Object.fromEntries(
  [
    [401, 'no credential, or a bad one'],
    [403, 'a valid credential that does not open this'],
    [415, 'the body is not `application/json`'],
    [422, 'malformed; every problem is in `problems`'],
    [429, 'over the rate limit'],
    [503, 'not available now'],
  ].map(([status, description]) => [
    status,
    { description: String(description), content: { [PROBLEM_JSON]: { schema: problem } } },
  ]),
);
const HUMAN = [{ cookieAuth: [] }, { bearerAuth: [] }];

/** Describes what the server has beside these routes, so that the document is about all of it. */
export function describeBesides(app: OpenAPIHono<RestEnv>): void {
  const { openAPIRegistry: registry } = app;
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  registry.registerPath({
    method: 'post',
    path: '/api/v1/session',
    operationId: 'signIn',
    tags: ['session'],
    summary: 'Sign in',
    description:
      'With the passphrase of a human, or with the code of the link that the server printed. With `bearer` and the passphrase the session may act. Without `bearer` the answer sets a cookie that holds below `path` and nowhere else, and such a session, or one from a link, looks only: each act needs `passphrase` or `passkey` in its body.\n\nMay be called by anyone.',
    security: [],
    request: { body: { required: true, content: json(sessionRequest) } },
    responses: { 201: { description: 'signed in', content: json(session) }, ...failures },
  });
  registry.registerPath({
    method: 'get',
    path: '/api/v1/session',
    operationId: 'getSession',
    tags: ['session'],
    summary: 'Who is signed in',
    description: "May be called with a human's session.",
    security: HUMAN,
    responses: { 200: { description: 'the session', content: json(session) }, ...failures },
  });
  registry.registerPath({
    method: 'delete',
    path: '/api/v1/session',
    operationId: 'signOut',
    tags: ['session'],
    summary: 'Sign out',
    description: "May be called with a human's session.",
    security: HUMAN,
    responses: { 204: { description: 'the session has ended' }, ...failures },
  });
  registry.registerPath({
    method: 'get',
    path: '/api/v1/sessions',
    operationId: 'listSessions',
    tags: ['session'],
    summary: 'Who is signed in where',
    description:
      "One's own sessions, and for an admin everybody's; by ids that open nothing.\n\nMay be called with a human's session.",
    security: HUMAN,
    responses: { 200: { description: 'the sessions', content: json(sessionList) }, ...failures },
  });
  registry.registerPath({
    method: 'delete',
    path: '/api/v1/sessions/{id}',
    operationId: 'endSession',
    tags: ['session'],
    summary: 'End a session',
    description:
      "One's own; an admin ends anybody's, which is an act like any other.\n\nMay be called with a human's session.",
    security: HUMAN,
    request: {
      params: z.strictObject({
        id: textUpTo(64).openapi({ param: { name: 'id', in: 'path' }, example: '9f86d081' }),
      }),
      body: { content: json(actRequest) },
    },
    responses: {
      204: { description: 'the session has ended' },
      404: { description: 'there is no such session', content: { [PROBLEM_JSON]: { schema: problem } } },
      ...failures,
    },
  });
  registry.registerPath({
    method: 'get',
    path: '/api/v1/audit/export',
    operationId: 'exportAudit',
    tags: ['audit'],
    summary: 'The audit as a file',
    description:
      "One record on each line, as JSON, oldest first: of one `run`, or of all chains in the order they became durable.\n\nMay be called with a human's session.",
    security: HUMAN,
    request: { query: z.strictObject({ run: textUpTo(256).optional() }) },
    responses: {
      200: { description: 'the records', content: { 'application/x-ndjson': { schema: z.string() } } },
      404: { description: 'there is no such run', content: { [PROBLEM_JSON]: { schema: problem } } },
      ...failures,
    },
  });
  registry.registerPath({
    method: 'get',
    path: '/api/v1/events',
    operationId: 'streamEvents',
    tags: ['state'],
    summary: 'Everything that happens, as it happens',
    description:
      "Server-sent events: `id` is the record's place among those of all chains, `event` its name, `data` the audit record as JSON, without what decisions were made from, and with `left_out` (the SHA-256 and the size) in place of a large value. `Last-Event-ID` resumes after a record.\n\nMay be called with a human's session.",
    security: HUMAN,
    responses: {
      200: { description: 'the stream', content: { 'text/event-stream': { schema: z.string() } } },
      ...failures,
    },
  });
  registry.registerPath({
    method: 'post',
    path: '/api/v1/hooks/{client}',
    operationId: 'answerHook',
    tags: ['hooks'],
    summary: "Answer a client's hook",
    description:
      "The body is the event as the client sends it, the answer what that client understands: `{}` is no opinion, a refusal is 200 with the client's own deny. What cannot be read, is too large or takes too long is refused in the same way. `X-Phasegate-Run` names the run the client was started for.\n\nMay be called with the key of the project's hooks, which opens nothing else; by the user's own socket, without.",
    security: [{ bearerAuth: [] }],
    request: {
      params: z.strictObject({
        client: z.enum(HOOK_CLIENTS).openapi({ param: { name: 'client', in: 'path' }, example: 'claude' }),
      }),
      body: { required: true, content: json(z.looseObject({})) },
    },
    responses: {
      200: { description: 'what the client is told, in its own words', content: json(z.looseObject({})) },
      404: { description: 'there is no such client', content: { [PROBLEM_JSON]: { schema: problem } } },
      ...failures,
    },
  });
  for (const { path, operationId, summary, type, who } of PROBES) {
    registry.registerPath({
      method: 'get',
      path,
      operationId,
      tags: ['server'],
      summary,
      description: `May be called ${who}.`,
      security: type === TEXT ? [{ bearerAuth: [] }] : [],
      responses: {
        200: {
          description: 'it is',
          content: { [type]: { schema: type === TEXT ? z.string() : z.looseObject({}) } },
        },
        ...failures,
      },
    });
  }
}

const TEXT = 'text/plain';
const BY_ANYONE = 'by anyone';
const PROBES = [
  {
    path: '/healthz',
    operationId: 'isAlive',
    summary: 'Is the process alive?',
    type: 'application/json',
    who: BY_ANYONE,
  },
  {
    path: '/readyz',
    operationId: 'isReady',
    summary: 'Can the server take requests?',
    type: 'application/json',
    who: BY_ANYONE,
  },
  {
    path: '/metrics',
    operationId: 'readMetrics',
    summary: 'Metrics as Prometheus text',
    type: TEXT,
    who: "with the token for metrics, or with a human's session; where no such token is set, also by anyone on the loopback interface",
  },
] as const;
