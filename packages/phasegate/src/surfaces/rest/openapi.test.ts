import { OpenAPIHono } from '@hono/zod-openapi';
import { isJsonObject, type Json, type JsonObject, own } from '@phasegate/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiPage, apiPageHtml, apiReferenceMarkdown } from './apiPage.ts';
import { openApiDocument } from './openapi.ts';
import type { RestEnv, RouteParts } from './parts.ts';
import { ENDPOINTS, registerRoutes } from './routes/index.ts';

describe('the document', () => {
  test('has every route of the contract, pinned', () => {
    const routes = operations().map(([name]) => name);

    expect(routes.sort()).toEqual(ROUTES);
  });

  test('says for every route who may call it, and has its own id, summary and group', () => {
    const all = operations();
    const ids = all.map(([, operation]) => own(operation, 'operationId'));

    expect(new Set(ids).size).toBe(all.length);
    for (const [name, operation] of all) {
      expect(own(operation, 'description'), name).toMatch(/May be called (with|by) /);
      expect(String(own(operation, 'summary')).length, name).toBeGreaterThan(3);
      expect(own(operation, 'tags'), name).toHaveLength(1);
      expect(Array.isArray(own(operation, 'security')), name).toBe(true);
    }
  });

  test('describes every error as a problem, and what a request may hold without room for more', () => {
    for (const [name, operation] of operations()) {
      const responses = own(operation, 'responses') as JsonObject;
      for (const [status, response] of Object.entries(responses)) {
        const types = Object.keys((own(response, 'content') ?? {}) as JsonObject);
        if (Number(status) >= 400) expect(types, `${name} ${status}`).toEqual(['application/problem+json']);
      }
      const body = own(own(own(own(operation, 'requestBody'), 'content'), 'application/json'), 'schema');
      if (body === undefined) continue;
      // What a client's hook sends is that client's own, whatever its version adds.
      if (name.endsWith('/hooks/{client}')) continue;
      const schema = resolve(body);
      expect(own(schema, 'additionalProperties'), name).toBe(false);
      expect(own(schema, 'example'), name).toBeDefined();
    }
  });

  test('has schemas that a validator of JSON Schema 2020-12 takes, and examples that fit them', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc:', ...DOCUMENT });
    const schemas = own(own(DOCUMENT, 'components'), 'schemas') as JsonObject;

    for (const [name, schema] of Object.entries(schemas)) {
      const validate = ajv.compile({ $ref: `doc:#/components/schemas/${name}` });
      const example = own(schema, 'example');
      if (example !== undefined)
        expect(validate(example), `${name} ${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });

  test('is 3.1 and names both ways to send a credential', () => {
    expect(DOCUMENT.openapi).toBe('3.1.0');
    expect(own(own(DOCUMENT, 'components'), 'securitySchemes')).toMatchObject({
      bearerAuth: { type: 'http', scheme: 'bearer' },
      cookieAuth: { type: 'apiKey', in: 'cookie', name: 'phasegate_session' },
    });
  });

  test('opens no human route to an agent and no verb of a human to its token [C18]', () => {
    const verbs = ENDPOINTS.filter(({ tag, path, method }) => {
      return (
        tag === 'decisions' ||
        tag === 'audit' ||
        tag === 'agents' ||
        tag === 'webhooks' ||
        (method === 'post' && path === '/runs')
      );
    });

    expect(verbs.length).toBeGreaterThan(12);
    for (const { path, who } of verbs) expect(who, path).toEqual(['human']);
  });
});

test('the document and its page, which anyone may ask for, are put together once', async () => {
  const app = new OpenAPIHono<RestEnv>();
  registerRoutes(app, { version: '0.0.0', settings: {} } as RouteParts, (async () => {}) as never);
  const [write, encode] = [JSON.stringify, TextEncoder.prototype.encode];
  let made = 0;
  JSON.stringify = (...words: unknown[]) => {
    made += 1;
    return (write as (...all: unknown[]) => string)(...words);
  };
  TextEncoder.prototype.encode = function counted(text?: string) {
    made += 1;
    return encode.call(this, text);
  };
  onTestFinished(() => {
    JSON.stringify = write;
    TextEncoder.prototype.encode = encode;
  });

  for (const path of ['/openapi.json', '/docs']) {
    const first = await (await app.request(path)).text();
    expect(made).toBeGreaterThan(0);
    made = 0;
    expect(await (await app.request(path)).text()).toBe(first);
    expect(made).toBe(0);
  }
});

describe('the page', () => {
  test('is HTML without scripts or anything from elsewhere, and its style is allowed by its own policy', async () => {
    const response = apiPage(new TextEncoder().encode(apiPageHtml(DOCUMENT)));
    const html = await response.text();

    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'; style-src 'sha256-/);
    expect(/<script|<link|<img|src=|href="http|url\(|@import|style="/.exec(html)).toBeNull();
    expect(html).toContain('color-scheme:light dark');
  });

  test('shows every route with its link, and every schema it names', () => {
    const html = apiPageHtml(DOCUMENT);

    for (const { operationId } of ENDPOINTS) expect(html).toContain(`<article id="${operationId}">`);
    for (const [, anchor] of html.matchAll(/href="#([^"]+)"/g)) expect(html).toContain(`id="${anchor}"`);
  });

  test('writes what a definition says as text', () => {
    const html = apiPageHtml({ info: { version: '<b>1</b>', description: 'a `<i>`' }, tags: [], paths: {} });

    expect(html).not.toContain('<b>1</b>');
    expect(html).toContain('<code>&#60;i&#62;</code>');
  });
});

test('the reference as Markdown has every route, every schema, and links that lead somewhere', () => {
  const text = apiReferenceMarkdown(DOCUMENT);
  const headings = new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading?.toLowerCase()));

  for (const { method, path } of ENDPOINTS) {
    expect(text).toContain(`### \`${method.toUpperCase()} /api/v1${path}\``);
  }
  for (const [, anchor] of text.matchAll(/\]\(#([^)]+)\)/g)) expect(headings).toContain(anchor);
});

const ROUTES = [
  'delete /api/v1/agents/{name}',
  'delete /api/v1/passkeys/{id}',
  'delete /api/v1/session',
  'delete /api/v1/sessions/{id}',
  'delete /api/v1/webhooks/{id}',
  'get /api/v1/agent',
  'get /api/v1/agents',
  'get /api/v1/answers/{id}',
  'get /api/v1/audit',
  'get /api/v1/audit/export',
  'get /api/v1/audit/search',
  'get /api/v1/audit/verify',
  'get /api/v1/events',
  'get /api/v1/humans',
  'get /api/v1/passkeys',
  'get /api/v1/runs',
  'get /api/v1/runs/{id}',
  'get /api/v1/runs/{id}/events',
  'get /api/v1/runs/{id}/fence',
  'get /api/v1/runs/{id}/fence/diff',
  'get /api/v1/runs/{id}/gate',
  'get /api/v1/runs/{id}/gate/files',
  'get /api/v1/runs/{id}/map',
  'get /api/v1/runs/{id}/phase',
  'get /api/v1/runs/{id}/tasks/{phase}/{n}',
  'get /api/v1/session',
  'get /api/v1/sessions',
  'get /api/v1/state/activity',
  'get /api/v1/state/counts',
  'get /api/v1/state/inbox',
  'get /api/v1/state/runs',
  'get /api/v1/state/snapshot',
  'get /api/v1/tools',
  'get /api/v1/webhooks',
  'get /api/v1/workflows',
  'get /api/v1/workflows/{id}',
  'get /api/v1/workflows/{id}/record',
  'get /healthz',
  'get /metrics',
  'get /readyz',
  'post /api/v1/agents',
  'post /api/v1/hooks/{client}',
  'post /api/v1/passkeys',
  'post /api/v1/passkeys/challenge',
  'post /api/v1/passkeys/options',
  'post /api/v1/runs',
  'post /api/v1/runs/{id}/answers',
  'post /api/v1/runs/{id}/blocked',
  'post /api/v1/runs/{id}/decisions',
  'post /api/v1/runs/{id}/fence',
  'post /api/v1/runs/{id}/override',
  'post /api/v1/runs/{id}/questions',
  'post /api/v1/runs/{id}/resume',
  'post /api/v1/runs/{id}/stop',
  'post /api/v1/session',
  'post /api/v1/tasks/claim',
  'post /api/v1/tasks/release',
  'post /api/v1/tasks/token',
  'post /api/v1/tasks/transition',
  'post /api/v1/tools/check',
  'post /api/v1/tools/execute',
  'post /api/v1/webhooks',
];

const DOCUMENT = documentOf();

function documentOf(): JsonObject {
  const app = new OpenAPIHono<RestEnv>();
  registerRoutes(app, { version: '1.2.3' } as RouteParts, async (_c, caller) => caller);
  return openApiDocument(app, { version: '1.2.3' });
}

function operations(): readonly (readonly [string, JsonObject])[] {
  return Object.entries(own(DOCUMENT, 'paths') as JsonObject).flatMap(([path, methods]) =>
    Object.entries(methods as JsonObject).map(
      ([method, operation]) => [`${method} ${path}`, operation as JsonObject] as const,
    ),
  );
}

function resolve(schema: Json): Json {
  const reference = own(schema, '$ref');
  if (typeof reference !== 'string') return schema;
  const name = reference.replace('#/components/schemas/', '');
  const found = own(own(own(DOCUMENT, 'components'), 'schemas'), name);
  return isJsonObject(found) ? found : null;
}
