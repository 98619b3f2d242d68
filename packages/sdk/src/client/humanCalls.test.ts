import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect, type PhasegateClient } from './connect.ts';
import { type Reply, type ScriptedServer, scriptedServer } from './fixtures/scriptedServer.ts';
import type { PhasegateClientError } from './PhasegateClientError.ts';

let server: ScriptedServer;
let client: PhasegateClient;

beforeEach(async () => {
  server = await scriptedServer();
  client = connect({ url: server.url });
});
afterEach(() => server.close());

const SIGNED_IN: Reply = {
  status: 200,
  body: { name: 'maria', expires_at: '2026-11-16T00:00:00.000Z', session: 'pgs_abc' },
};
const RUN: Reply = { status: 200, body: { run: 'r1', status: 'active' } };

test('a session is kept in memory and sent as a bearer, never with a cookie, and its secret is told to nobody', async () => {
  server.script(SIGNED_IN, RUN, { status: 204 }, RUN);

  const signedIn = await client.signIn({ name: 'maria', passphrase: 'open' });
  expect(signedIn).toMatchObject({ name: 'maria' });
  expect(JSON.stringify(signedIn)).not.toContain('pgs_abc');
  await client.getRun('r1');
  await client.signOut();
  await client.getRun('r1');

  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    'Bearer pgs_abc',
    'Bearer pgs_abc',
    undefined,
  ]);
  expect(server.requests.map(({ headers }) => headers.cookie)).toEqual(Array(4).fill(undefined));
  expect(server.requests[0]).toMatchObject({
    url: '/api/v1/session',
    body: { name: 'maria', passphrase: 'open', bearer: true },
  });
});

test('a decision carries the gate and the hash of the card as it stands', async () => {
  server.script({ status: 200, body: { gate: 'ship#1', card: {}, shown: 'abc' } }, RUN);

  await client.decide('r/1', { option: 'Approve', input: 'fine' });

  expect(server.requests).toMatchObject([
    { method: 'GET', url: '/api/v1/runs/r%2F1/gate' },
    {
      method: 'POST',
      url: '/api/v1/runs/r%2F1/decisions',
      body: { gate: 'ship#1', option: 'Approve', input: 'fine', shown: 'abc' },
    },
  ]);
});

test('a decision on a card that was shown carries that one, and nothing is fetched', async () => {
  server.script(RUN);

  await client.decide('r1', { option: 'Approve', gate: 'ship#1', shown: 'seen' });

  expect(server.requests.map(({ body }) => body)).toEqual([
    { gate: 'ship#1', option: 'Approve', shown: 'seen' },
  ]);
});

test("a human's acts are never made twice", async () => {
  const acts = [
    () => client.decide('r1', { option: 'Approve', gate: 'g', shown: 's' }),
    () => client.answer('r1', { question: 1, option: 'SQLite' }),
    () => client.resume('r1', 'go on'),
    () => client.stop('r1', 'no longer needed'),
    () => client.startRun({ workflow: 'tdd', queue: true }),
  ];
  for (const act of acts) {
    server.script('cut');
    await expect(act()).rejects.toMatchObject({ code: 'server_unreachable', uncertain: true });
  }

  expect(server.requests.map(({ url, body }) => [url.replace('/api/v1', ''), body])).toEqual([
    ['/runs/r1/decisions', { gate: 'g', option: 'Approve', shown: 's' }],
    ['/runs/r1/answers', { question: 1, option: 'SQLite' }],
    ['/runs/r1/resume', { note: 'go on' }],
    ['/runs/r1/stop', { reason: 'no longer needed' }],
    ['/runs', { workflow: 'tdd', queue: true }],
  ]);
});

test('a sign-in without an answer is sent once, and nobody is told that something may have been done', async () => {
  server.script('cut');

  const failed = await client.signIn({ name: 'maria', passphrase: 'open' }).catch((error: unknown) => error);

  expect(failed).toMatchObject({ code: 'server_unreachable', uncertain: false });
  expect((failed as PhasegateClientError).asFault().hint).toBeUndefined();
  expect(server.requests).toHaveLength(1);
});
