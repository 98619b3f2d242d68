import { isJsonObject, type JsonObject, own } from '@phasegate/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { NOT_BUILT, OPEN, WITH_KEY, WITH_TOKEN } from './openRoutes.ts';
import { expectStatus, laySiege, PASSPHRASE, type Siege } from './siege.ts';
import { bearer, converse, newAddress, type Sent } from './wire.ts';

const FILES = {
  'agent_workflow.yaml': `
workflow: errand
gates:
  leave: { human: { prompt: May it go?, options: [{ label: Go, next: DONE }, { label: Stay, next: WORK }] } }
phases:
  WORK: { allowed_tools: [read_files], tasks: [{ name: Look, instructions: Look around }], gate: leave, next: DONE }
  DONE: { next: null }
`,
};

const PAGES = [
  '/',
  '/sign-in',
  '/openapi.json',
  '/docs',
  '/mcp',
  '/metrics',
  '/healthz',
  '/readyz',
  '/nothing',
];
const BODY = {
  reason: 'x',
  note: 'x',
  name: 'eve',
  workflow: 'errand',
  url: 'http://127.0.0.1:1/',
  events: [],
};

let siege: Siege;
let run: string;
let key: string;
let token: string;
let removed: string;
let operations: readonly { readonly name: string; readonly method: string; readonly path: string }[];
let paths: readonly string[];

beforeAll(async () => {
  siege = await laySiege({ files: FILES, human: true });
  [key, removed] = [await siege.agent('ada'), await siege.agent('gone')];
  expectStatus(await siege.ask('DELETE', '/agents/gone'), 204);
  await siege.queue('errand');
  ({ run, token } = await siege.claim('ada', key));
  const { body } = expectStatus(await siege.send({ path: '/openapi.json' }), 200);
  operations = operationsOf(body);
  paths = [...new Set([...operations.map(({ path }) => path), ...PAGES])];
});

describe('a route', () => {
  test('of a human opens to no credential of an agent [C18 adv.H1 adv.H8 adv.J1 S2.24 S2.68]', async () => {
    const before = await siege.everything();
    const humans = operations.filter(({ name }) => ![...WITH_KEY, ...WITH_TOKEN, ...OPEN].includes(name));
    expect(humans.length).toBeGreaterThan(20);

    for (const { name, method, path } of operations) {
      for (const [opens, secret] of [
        [WITH_KEY, key],
        [WITH_TOKEN, token],
      ] as const) {
        if (opens.includes(name) || OPEN.includes(name)) continue;
        for (const verb of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
          const got = await siege.send({ method: verb, path, headers: [bearer(secret)], ...bodyFor(verb) });
          expect(got.status, `${name} ${got.text}`).toBe(403);
          if (verb !== 'HEAD') expect(got.body.error, name).toBe('not_permitted');
        }
      }
    }
    expect(withoutLeases(await siege.everything())).toBe(withoutLeases(before));
  });

  test('opens to nobody without a credential, nor with one that is unknown or withdrawn [S2.37 S2.97]', async () => {
    const before = await siege.everything();
    const strangers: readonly (readonly (readonly [string, string])[])[] = [
      [],
      [bearer('pgk_nobody_knows_this_key')],
      [bearer(removed)],
      [bearer('pgs_nobody_knows_this_session')],
      [['Cookie', 'phasegate_session=pgs_nobody']],
      [['Authorization', `Basic ${Buffer.from('maria:open sesame').toString('base64')}`]],
      [
        ['X-User', 'maria'],
        ['X-Forwarded-User', 'maria'],
        ['X-Agent-Id', 'ada'],
      ],
    ];

    for (const { name, method, path } of operations) {
      if (OPEN.includes(name)) continue;
      for (const headers of strangers) {
        const got = await siege.send({ method, path, headers, from: newAddress(), ...bodyFor(method) });
        expect([got.status, got.body.error], `${name} ${headers}`).toEqual([401, 'credential_invalid']);
        expect(got.headers['www-authenticate'], name).toContain('Bearer');
      }
    }
    expect(await siege.everything()).toBe(before);
  });

  test('is not reached by another spelling of its path', async () => {
    const spellings = [
      '/api/v1//runs',
      '//api/v1/runs',
      '/api/v1/runs/',
      '/API/V1/RUNS',
      '/api/v1/%72uns',
      '/api%2fv1%2fruns',
      '/api/v1/./runs',
      '/healthz/../api/v1/runs',
      '/docs/..%2fapi/v1/runs',
      '/api/v1/runs;a=b',
      '/api/v1/runs%00',
      '/api/v1/runs%3flimit=1',
      '/mcp/../api/v1/runs',
      '/x/../../api/v1/runs',
    ];

    for (const path of spellings) {
      const got = await siege.send({ path, from: newAddress() });
      expect([400, 401, 404], `${path} ${got.text}`).toContain(got.status);
      expect(got.text, path).not.toContain(run);
      const agent = await siege.send({ path, headers: [bearer(key)], from: newAddress() });
      expect([400, 403, 404], `${path} ${agent.text}`).toContain(agent.status);
    }
  });

  test('takes the agent from the credential and from nowhere else [adv.J2 S2.26]', async () => {
    const claim = { method: 'POST', path: '/api/v1/tasks/claim' };
    const other = await siege.send({ ...claim, headers: [bearer(key)], body: { agent_id: 'maria' } });
    expect([other.status, other.body.error]).toEqual([403, 'not_permitted']);

    for (const body of [
      { gate: 'leave#1', option: 'Go', shown: 'x', by: 'maria' },
      { gate: 'leave#1', option: 'Go', shown: 'x', as: 'maria' },
      { gate: 'leave#1', option: 'Go', shown: 'x', signature: 'x' },
    ]) {
      expect((await siege.ask('POST', `/runs/${run}/decisions`, body)).status).toBe(422);
    }
  });

  test('knows no word that forces it open [adv.H3]', async () => {
    for (const word of ['force', 'skip', 'override', 'test_run', 'approve', 'dry_run', 'bypass', 'yes']) {
      const body = { artifacts: {}, [word]: true };
      const post = { method: 'POST', headers: [bearer(token), [`X-${word}`, '1']] } as const;
      expect((await siege.send({ ...post, path: '/api/v1/tasks/transition', body })).status, word).toBe(422);
      const query = `/api/v1/tasks/transition?${word}=true`;
      const got = await siege.send({ ...post, path: query, body: { artifacts: {} } });
      expect([got.status, got.body.allowed], word).toEqual([409, false]);
    }
    expect((await siege.ask('GET', `/runs/${run}`)).body).toMatchObject({
      phase: 'WORK',
      completed_phases: [],
    });
  });

  test('has the method it was called with, whatever else the request says', async () => {
    const before = await siege.everything();
    const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'].map(
      (name) => [name, 'DELETE'] as const,
    );
    const as = [bearer(siege.human), ...overrides];

    for (const [method, status] of [
      ['GET', 405],
      ['POST', 405],
      ['PUT', 405],
      ['PATCH', 405],
      ['TRACE', 405],
      ['PROPFIND', 405],
    ] as const) {
      const sent = { method, path: '/api/v1/agents/ada?_method=DELETE', headers: as, ...bodyFor(method) };
      const got = await siege.send(sent);
      expect([got.status, got.body.error], `${method} ${got.text}`).toEqual([status, 'route_unknown']);
    }
    expect(withoutLeases(await siege.everything())).toBe(withoutLeases(before));
  });
});

describe('a browser that shows a page of somebody else’s', () => {
  const evil: readonly (readonly [string, string])[] = [
    ['Origin', 'http://evil.example'],
    ['Origin', 'null'],
    ['Origin', 'http://127.0.0.1'],
    ['Origin', 'https://127.0.0.1:8000'],
    ['Origin', 'http://127.0.0.1.evil.example'],
    ['Sec-Fetch-Site', 'cross-site'],
    ['Sec-Fetch-Site', 'same-site'],
  ];

  test('changes nothing with the cookie of who is signed in [C18 adv.J1]', async () => {
    const { cookie, at } = await browser();
    const before = await siege.everything();

    for (const { name, method, path } of operations.filter((one) => one.method !== 'GET')) {
      for (const from of evil) {
        const got = await siege.send({
          method,
          path: `${at}${path}`,
          headers: [cookie, from],
          ...bodyFor(method),
        });
        expect([got.status, got.body.error], `${name} ${from}`).toEqual([403, 'not_permitted']);
      }
    }
    for (const path of ['/sign-out', '/sign-in']) {
      for (const from of evil) {
        const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
        const got = await siege.send({
          method: 'POST',
          path: `${at}${path}`,
          headers: [cookie, from, form],
          body: 'name=maria',
        });
        expect(got.status, `${path} ${from}`).toBe(403);
      }
    }
    expect(await siege.everything()).toBe(before);
    expect((await siege.ask('GET', '/session')).status).toBe(200);
  });

  test('gets nothing for a token either, by any name and on any way there is to a verdict', async () => {
    const cursor = (await siege.records()).at(-1)?.id ?? 0;
    const pages: readonly (readonly [string, string])[] = [
      ...evil,
      ['Host', 'evil.example'],
      ['Cookie', 'phasegate_session=x'],
    ];

    for (const [path, body] of [
      ['/api/v1/tools/check', { tool: 'read_files', input: { path: 'brief.md' } }],
      ['/api/v1/tasks/transition', { artifacts: {} }],
    ] as const) {
      for (const page of pages) {
        const headers = [bearer(token), page];
        const got = await siege.send({ method: 'POST', path, headers, body, from: newAddress() });
        expect(got.status, `${path} ${page}`).toBe(page[0] === 'Cookie' ? 401 : 403);
      }
    }
    const told = (await siege.records(cursor)).map(({ event }) => event);
    expect(told.filter((event) => event !== 'credential_failed')).toEqual([]);
  });

  test('sends nothing that is read, in the types it may send without asking', async () => {
    const { cookie, at } = await browser();
    const post = { method: 'POST', path: `${at}/api/v1/runs` };
    const before = await siege.everything();
    const text = JSON.stringify({ workflow: 'errand' });

    for (const type of [
      'text/plain',
      'text/plain; charset=application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'text/json',
    ]) {
      const got = await siege.send({ ...post, headers: [cookie, ['Content-Type', type]], body: text });
      expect([got.status, got.body.error], type).toEqual([415, 'request_invalid']);
    }
    const typeless = await converse(
      siege.server.url,
      `POST ${at}/api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n${cookie.join(': ')}\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    );
    expect(typeless).toMatch(/^HTTP\/1.1 415 /);
    expect(await siege.everything()).toBe(before);
  });

  test('is promised nothing when it asks first', async () => {
    for (const path of paths) {
      for (const origin of ['http://evil.example', siege.server.url]) {
        const got = await siege.send({
          method: 'OPTIONS',
          path,
          headers: [
            ['Origin', origin],
            ['Access-Control-Request-Method', 'POST'],
            ['Access-Control-Request-Headers', 'authorization,content-type'],
          ],
        });
        expect(got.status, path).toBeGreaterThanOrEqual(400);
        const allowed = Object.keys(got.headers).filter((name) => name.startsWith('access-control-'));
        expect(allowed, path).toEqual([]);
      }
    }
  });

  test('finds nothing at a name that was rebound to this machine, whatever the path', async () => {
    const { port } = new URL(siege.server.url);
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.evil.example`,
      `2130706433:${port}`,
      `0x7f.1:${port}`,
      `0.0.0.0:${port}`,
      '[::ffff:7f00:1]',
      '169.254.169.254',
      '127.0.0.1@evil.example',
      '127.0.0.1#evil.example',
      '',
    ];
    for (const path of paths) {
      for (const host of hosts) {
        const forwarded = ['X-Forwarded-Host', '127.0.0.1'] as const;
        const headers = [['Host', host], forwarded, bearer(siege.human)] as const;
        const got = await siege.send({ path, headers, from: newAddress() });
        expect([400, 403], `${path} at ${host}`).toContain(got.status);
        expect(got.text, `${path} at ${host}`).not.toContain('errand');
      }
    }
    const whole = `GET http://evil.example/api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${siege.human}\r\nConnection: close\r\n\r\n`;
    expect(await converse(siege.server.url, whole)).toMatch(/^HTTP\/1.1 403 /);
  });
});

describe('a request inside another', () => {
  const inner = () =>
    `POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${siege.human}\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{"workflow":"errand"}`;
  const outer = (headers: string) =>
    `POST /api/v1/tools/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

  test.each([
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 200', '{}'],
    ['two lengths in one header', 'Content-Length: 2, 200', '{}'],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
    ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n'],
    ['chunks twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', '0\r\n\r\n'],
    ['chunks of another name', 'Transfer-Encoding: xchunked', '0\r\n\r\n'],
    ['a blank before the colon', 'Content-Length : 2', '{}'],
    [
      'a folded header',
      'X: y\r\n Content-Length: 200\r\nContent-Length: 2\r\nTransfer-Encoding:\r\n chunked',
      '{}',
    ],
    ['a length that is negative', 'Content-Length: -1', '{}'],
    ['a length in hex', 'Content-Length: 0x2', '{}'],
    ['a header with a bare line feed', 'X: y\nContent-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
  ])('%s: nothing of it is carried out', async (_name, headers, body) => {
    const before = await siege.everything();

    const answer = await converse(siege.server.url, `${outer(headers)}${body}${inner()}`);

    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    expect(await siege.everything()).toBe(before);
  });
});

test('the server is unharmed, and its log holds no secret', async () => {
  await siege.expectUnharmed([key, token, removed]);
});

function operationsOf(document: JsonObject) {
  const documented = own(document, 'paths') as JsonObject;
  return Object.entries({ ...documented, ...NOT_BUILT }).flatMap(([template, methods]) =>
    Object.keys(isJsonObject(methods) ? methods : {}).map((verb) => {
      const method = verb.toUpperCase();
      const path = template
        .replace('{id}', run)
        .replace('{phase}', 'WORK')
        .replace('{n}', '1')
        .replaceAll(/\{\w+\}/g, 'ada');
      return { name: `${method} ${template}`, method, path };
    }),
  );
}

function bodyFor(method: string): Pick<Sent, 'body'> {
  return method === 'GET' || method === 'HEAD' || method === 'TRACE' ? {} : { body: BODY };
}

function withoutLeases(everything: string): string {
  return everything.replaceAll(/"expires_at": "[^"]*"/g, '');
}

/** A browser that maria signed in with. */
async function browser() {
  const body = { name: 'maria', passphrase: PASSPHRASE };
  const got = await siege.send({ method: 'POST', path: '/api/v1/session', body, from: newAddress() });
  const [cookie = '', path = ''] = (got.headers['set-cookie']?.[0] ?? '').split('; ');
  return { cookie: ['Cookie', cookie] as const, at: path.replace('Path=', '').replace(/\/$/, '') };
}
