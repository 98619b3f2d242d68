import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { addressOf, bareHost } from './address.ts';
import type { RestEnv } from './parts.ts';

test.each([
  ['127.0.0.1:8000', '127.0.0.1'],
  ['LocalHost', 'localhost'],
  ['[::1]:8000', '::1'],
  ['::1', '::1'],
  ['example.com:', 'example.com'],
])('the host of `%s` is `%s`', (host, bare) => {
  expect(bareHost(host)).toBe(bare);
});

test.each([
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['10.0.0.7', '10.0.0.7'],
  ['::1', '::1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::5', '2001:db8:0:0::/64'],
])('limits know `%s` as `%s`, whatever a proxy says', async (remoteAddress, known) => {
  const app = new Hono<RestEnv>().get('/', (c) => c.text(addressOf(c)));
  const incoming = { socket: { remoteAddress } } as IncomingMessage;

  const response = await app.request('/', { headers: { 'x-forwarded-for': '1.2.3.4' } }, { incoming });

  expect(await response.text()).toBe(known);
});
