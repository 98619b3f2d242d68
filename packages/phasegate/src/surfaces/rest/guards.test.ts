import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { guardProvenance, guardResponse } from './guards.ts';
import type { RestEnv, RestSettings } from './parts.ts';
import { problemOf } from './problem.ts';

const SETTINGS: RestSettings = {
  origin: 'http://127.0.0.1:8000',
  hosts: ['127.0.0.1', 'localhost', '[::1]'],
  secure: false,
  maxBody: 1000,
  maxStreams: 1,
};

describe('where a request comes from', () => {
  test.each(['127.0.0.1:8000', '127.0.0.1', 'localhost:8000', 'LOCALHOST', '[::1]:8000'])(
    'a request to `%s` is let in',
    async (host) => {
      expect(await statusOf('GET', { host })).toBe(200);
    },
  );

  test.each([
    'evil.example',
    'evil.example:8000',
    '127.0.0.1.evil.example',
    'localhost.',
    '127.0.0.1@evil.example',
    '',
    '[::1].evil.example',
  ])('a name that was rebound to this machine is turned away: `%s`', async (host) => {
    expect(await statusOf('GET', { host })).toBe(403);
    expect(await statusOf('POST', { host })).toBe(403);
  });

  test.each([
    ['10.0.0.7:8000', '10.0.0.7'],
    ['10.0.0.7', '::ffff:10.0.0.7'],
    ['[2001:db8::1]:8000', '2001:db8::1'],
  ])(
    'a probe is let in by the address it reached the server at, and nothing else is: `%s`',
    async (host, at) => {
      const ask = async (path: string, localAddress: string) => {
        const env = { incoming: { socket: { localAddress } } as IncomingMessage };
        return (await app().request(path, { headers: { host } }, env)).status;
      };

      // There is no such route here; it was let in to be told so.
      expect([await ask('/healthz', at), await ask('/readyz', at)]).toEqual([404, 404]);
      expect([await ask('/', at), await ask('/metrics', at)]).toEqual([403, 403]);
      expect(await ask('/healthz', '10.0.0.8')).toBe(403);
    },
  );

  test('a request line with another host than the header is turned away', async () => {
    const request = new Request('http://evil.example/', { headers: { host: '127.0.0.1:8000' } });

    expect((await app().fetch(request)).status).toBe(403);
  });

  test.each([
    'https://evil.example',
    'http://127.0.0.1:3000',
    'https://127.0.0.1:8000',
    'http://127.0.0.1:8000.evil.example',
    'http://localhost:8000',
    'null',
    '',
  ])('a page of another origin is turned away: `%s`', async (origin) => {
    expect(await statusOf('POST', { host: '127.0.0.1:8000', origin })).toBe(403);
    expect(await statusOf('GET', { host: '127.0.0.1:8000', origin })).toBe(403);
  });

  test.each([
    ['127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['localhost:8000', 'http://localhost:8000'],
    ['[::1]:8000', 'http://[::1]:8000'],
    ['localhost:9000', 'http://127.0.0.1:8000'],
  ])('a page of ours at `%s` is let in', async (host, origin) => {
    expect(await statusOf('POST', { host, origin })).toBe(200);
  });

  test.each(['cross-site', 'same-site', 'anything'])(
    'a browser that says `%s` may look and not act',
    async (site) => {
      const headers = { host: '127.0.0.1:8000', 'sec-fetch-site': site };

      expect(await statusOf('POST', headers)).toBe(403);
      expect(await statusOf('DELETE', headers)).toBe(403);
      expect(await statusOf('GET', headers)).toBe(200);
    },
  );

  test.each(['same-origin', 'none'])('a browser that says `%s` may act', async (site) => {
    expect(await statusOf('POST', { host: '127.0.0.1:8000', 'sec-fetch-site': site })).toBe(200);
  });

  test('what is turned away is named, but never at length', async () => {
    const response = await app().request('/', { headers: { host: `${'x'.repeat(5000)}.example` } });

    expect(response.status).toBe(403);
    expect((await response.text()).length).toBeLessThan(700);
  });
});

describe('an answer', () => {
  test('keeps browsers from doing more with it than show it, and from keeping it', async () => {
    const { headers } = await app().request('/', { headers: { host: 'localhost' } });

    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });

  test('of a refusal has the same', async () => {
    const { headers, status } = await app().request('/', { headers: { host: 'evil.example' } });

    expect(status).toBe(403);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });
});

function app(): Hono<RestEnv> {
  const hono = new Hono<RestEnv>();
  hono.onError((error) => problemOf(error));
  hono.use(guardResponse, guardProvenance(SETTINGS));
  hono.all('/', (c) => c.text('here'));
  return hono;
}

async function statusOf(method: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await app().request('http://127.0.0.1:8000/', { method, headers })).status;
}
