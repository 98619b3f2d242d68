import type { OpenAPIHono } from '@hono/zod-openapi';
import type { JsonObject } from '@phasegate/core';
import type { RestEnv } from './parts.ts';

/** What the document says of the server that it cannot say itself. */
export interface Described {
  readonly version: string;
  /** Where clients find it; left out, where the document was found. */
  readonly url?: string | undefined;
}

/** The OpenAPI 3.1 document of everything the app serves, from the schemas that requests are read by. */
export function openApiDocument(app: OpenAPIHono<RestEnv>, { version, url = '/' }: Described): JsonObject {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Phasegate',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
  });
  const { components } = document;
  return JSON.parse(
    JSON.stringify({ ...document, components: { ...components, securitySchemes: SECURITY_SCHEMES } }),
  );
}

const INTRODUCTION = [
  'Agents claim work, hold a token for the phase they are in, and reach tools only through here. Humans decide.',
  'Every error is `application/problem+json` (RFC 9457) with `error`, the code, and `message`. A refusal by the workflow is 409 with `blockers`, each with its code, a message and the next legal call. A request that cannot be read is 422 with every problem by field; fields that are not known are problems.',
  'Credentials are sent in `Authorization: Bearer` and never in a URL: an agent key, a phase token, or the secret of a session. Browsers hold a session in a cookie.',
].join('\n\n');

const TAGS: readonly (readonly [string, string])[] = [
  ['tasks', 'Work for agents: claiming it, and leaving its phases'],
  ['tools', 'Tools behind the gate'],
  ['state', 'What is going on, in one answer'],
  ['runs', 'Runs, their phases and what happened to them'],
  ['decisions', "A human's verbs"],
  ['fence', "What was changed outside a phase's scope"],
  ['workflows', 'What can be started'],
  ['audit', 'The record of everything'],
  ['people', 'Humans, and what each of them may do'],
  ['agents', 'Agents and their keys'],
  ['webhooks', 'Addresses that are told what happens'],
  ['session', 'Signing in'],
  ['server', 'The server itself'],
];

const SECURITY_SCHEMES: JsonObject = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    description:
      'an agent key (`pgk_…`), a phase token (a JWT), or the secret of a session; each route says which it takes',
  },
  cookieAuth: {
    type: 'apiKey',
    in: 'cookie',
    name: 'phasegate_session',
    description: "a human's session, set by signing in",
  },
};
