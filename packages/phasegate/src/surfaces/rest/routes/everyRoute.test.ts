import { expect, test } from 'vitest';
import { openApiBed } from './fixtures/apiBed.ts';
import { FIVE } from './fixtures/workflows.ts';
import { ENDPOINTS } from './index.ts';

const WRITING = ENDPOINTS.filter(({ body }) => body !== undefined);

test.each(ENDPOINTS.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s opens to its own credentials only, before it reads what is said [S2.97 C18]',
  async (_name, route) => {
    const bed = openApiBed(FIVE);
    const [key, human] = [await bed.agent('a1'), await bed.human()];
    const { token } = await bed.claimed(key, 'a1');
    const path = route.path.replaceAll(/\{\w+\}/g, 'x');
    const before = await bed.store.list({});

    for (const [kind, as] of [
      ['agent', key],
      ['token', token],
      ['human', human],
      ['nobody', undefined],
    ] as const) {
      const { status, body } = await bed.call(route.method.toUpperCase(), path, {
        ...(as === undefined ? {} : { as }),
        ...(route.method === 'get' ? {} : { body: { nonsense: true } }),
      });
      if (kind === 'nobody') {
        expect([status, body.error], kind).toEqual([401, 'credential_invalid']);
      } else if (!(route.who as readonly string[]).includes(kind)) {
        expect([status, body.error], kind).toEqual([403, 'not_permitted']);
      } else {
        expect([401, 500], kind).not.toContain(status);
      }
    }
    expect(await bed.store.list({})).toEqual(before);
  },
);

test.each(WRITING.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s refuses what it cannot read, and nothing changed',
  async (_name, route) => {
    const bed = openApiBed(FIVE);
    const key = await bed.agent('a1');
    const { run, token } = await bed.claimed(key, 'a1');
    const as = { agent: key, token, human: await bed.human() }[route.who[0] ?? 'human'];
    const path = route.path.replaceAll('{id}', run).replaceAll(/\{\w+\}/g, 'x');
    const before = await bed.records();
    const deep = `{"a":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`;

    for (const [raw, status, error] of [
      ['{', 422, 'request_invalid'],
      ['"text"', 422, 'request_invalid'],
      ['null', 422, 'request_invalid'],
      ['[]', 422, 'request_invalid'],
      ['{"nobody_knows_this":1}', 422, 'request_invalid'],
      [deep, 422, 'request_invalid'],
      [`{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`, 413, 'too_large'],
    ] as const) {
      const got = await bed.call(route.method.toUpperCase(), path, { as, raw });
      expect([got.status, got.body.error], raw.slice(0, 40)).toEqual([status, error]);
      expect(got.headers.get('content-type')).toBe('application/problem+json');
    }
    const plain = await bed.call(route.method.toUpperCase(), path, {
      as,
      raw: '{}',
      type: 'text/plain',
    });
    expect([plain.status, plain.body.error]).toEqual([415, 'request_invalid']);
    expect(await bed.records()).toBe(before);
  },
);
