import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { guardJsonBody } from './jsonBody.ts';
import type { RestEnv } from './parts.ts';
import { problemOf } from './problem.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('a body', () => {
  test('that is JSON reaches the route as it was sent', async () => {
    const response = await post('{"a":[1,{"constructor":"x"}]}', {
      'content-type': 'application/json; charset=UTF-8',
    });

    expect(await response.json()).toEqual({ a: [1, { constructor: 'x' }] });
  });

  test('that is missing is an empty object', async () => {
    expect(await (await post(undefined, {})).json()).toEqual({});
    expect(await (await post('', JSON_TYPE)).json()).toEqual({});
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/jsonp',
    'text/plain, application/json',
  ])('of type `%s` is refused with 415', async (type) => {
    expect((await post('{}', { 'content-type': type })).status).toBe(415);
  });

  test('of no type is refused, and with a cookie so is not a body at all', async () => {
    const untyped = new Request('http://x/', { method: 'POST', body: new TextEncoder().encode('{}') });

    expect((await app().fetch(untyped)).status).toBe(415);
    expect((await post(undefined, { cookie: 'phasegate_session=x' })).status).toBe(415);
    expect((await post(undefined, { ...JSON_TYPE, cookie: 'phasegate_session=x' })).status).toBe(200);
  });

  test.each([
    ['no JSON', '{'],
    ['cut off', '{"a":'],
    ['two values', '{}{}'],
    ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
    ['deeper than anyone reads', `${'['.repeat(300)}${']'.repeat(300)}`],
    ['deeper than a stack', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
    ['with a number nobody can hold', '{"a":[1e999]}'],
    ['with a prototype', '{"a":{"__proto__":{"admin":true}}}'],
    ['with half of a surrogate pair in a key', '{"a":{"\\ud800":1}}'],
    ['with a prototype in disguise', '{"\\u005f_proto__":{}}'],
  ])('that is %s is refused with 422', async (_name, body) => {
    const response = await post(body, JSON_TYPE);

    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: 'request_invalid', problems: [{}] });
  });

  test('names the field that cannot be used', async () => {
    expect(await (await post('{"a":[0,1e999]}', JSON_TYPE)).json()).toMatchObject({
      problems: [{ field: 'a.1', message: 'a number is too large' }],
    });
  });

  test('over the limit is refused with 413, by what it says and by what it is', async () => {
    const said = await post('{}', { ...JSON_TYPE, 'content-length': '1000001' });
    const streamed = await post(stream(1_000_001), JSON_TYPE);
    const within = await post(`"${'x'.repeat(900_000)}"`, JSON_TYPE);

    expect([said.status, streamed.status, within.status]).toEqual([413, 413, 200]);
  });

  test('without an end is read no further than the limit', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 100_000;
        controller.enqueue(new Uint8Array(100_000).fill(0x20));
      },
    });

    expect((await post(endless, JSON_TYPE)).status).toBe(413);
    expect(sent).toBeLessThan(1_500_000);
  });
});

function app(): Hono<RestEnv> {
  const hono = new Hono<RestEnv>();
  hono.onError((error) => problemOf(error));
  hono.use(guardJsonBody({ maxBody: 1_000_000 }));
  hono.post('/', (c) => c.body(JSON.stringify(c.get('body'))));
  return hono;
}

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

async function post(body: Body | undefined, headers: Readonly<Record<string, string>>): Promise<Response> {
  const init: RequestInit = { method: 'POST', headers };
  if (body !== undefined) Object.assign(init, { body, duplex: 'half' });
  return app().request('http://x/', init);
}

function stream(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, 65_536);
      if (size === 0) return controller.close();
      left -= size;
      controller.enqueue(new Uint8Array(size).fill(0x20));
    },
  });
}
