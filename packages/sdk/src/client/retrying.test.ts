import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect, type PhasegateClient } from './connect.ts';
import { claimed } from './fixtures/replies.ts';
import { type Reply, type ScriptedServer, scriptedServer, tokenFor } from './fixtures/scriptedServer.ts';

const KEY = 'pgk_s3cret-of-agent-7';

let server: ScriptedServer;
let client: PhasegateClient;

beforeEach(async () => {
  server = await scriptedServer();
  client = connect({ url: server.url, key: KEY });
});
afterEach(() => server.close());

const busy: readonly (readonly [string, Reply])[] = [
  ['a lost connection', 'cut'],
  ['503', { status: 503, body: { error: 'store_unavailable' } }],
  ['429', { status: 429, body: { error: 'rate_limited' }, headers: { 'retry-after': '0' } }],
  [
    'an answer cut in half',
    (response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"half":', () => response.destroy());
    },
  ],
];

test.each(busy)('reading and checking are tried again after %s', async (_name, reply) => {
  server.script(claimed(tokenFor({})), reply, { status: 200, body: { allowed: true } });
  server.script(reply, reply, { status: 200, body: { phase: 'PLAN' } });
  await client.claimTask('agent-7');

  expect(await client.checkTool('grep', {})).toEqual({ allowed: true });
  expect(await client.getPhase()).toEqual({ phase: 'PLAN' });
  expect(server.requests).toHaveLength(6);
});

test.each([200, 500])('an answer without end (%i) is read no further than the limit', async (status) => {
  const endless: Reply = (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(1024 * 1024)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
  server.script(claimed(tokenFor({})), endless, endless, endless, endless);
  await client.claimTask('agent-7');

  const error = await client.getPhase().catch((thrown: unknown) => thrown);

  expect(error).toMatchObject(status === 200 ? { code: 'too_large' } : { status });
});

test('an answer whose pages have no end is read no further than the limit', async () => {
  const rest = 'GET /api/v1/answers/a1?page=1';
  const text = 'x'.repeat(40 * 1024 * 1024);
  const page = { status: 200, body: { text, pages: 2000 } };
  server.script(claimed(tokenFor({})), { status: 200, body: { truncated: true, rest } }, page, page, page);
  await client.claimTask('agent-7');

  await expect(client.getPhase()).rejects.toMatchObject({ code: 'too_large' });
  expect(server.requests).toHaveLength(4);
});

test('an answer whose pages make no JSON is not an answer', async () => {
  const rest = 'GET /api/v1/answers/a1?page=1';
  const page = { status: 200, body: { text: '{"half":', pages: 1 } };
  server.script(claimed(tokenFor({})), { status: 200, body: { truncated: true, rest } }, page);
  await client.claimTask('agent-7');

  await expect(client.getPhase()).rejects.toMatchObject({ code: 'server_unreachable' });
});

test.each(busy)('claims, transitions and tools are not tried again after %s', async (_name, reply) => {
  server.script(claimed(tokenFor({})), reply, reply, reply);
  await client.claimTask('agent-7');

  const errors = [
    await client.requestTransition('TDD', {}).catch((error: unknown) => error),
    await client.useTool('bash', { command: 'make' }).catch((error: unknown) => error),
    await client.claimTask('agent-7').catch((error: unknown) => error),
  ];

  expect(server.requests).toHaveLength(4);
  const answered = typeof reply === 'object';
  for (const error of errors) expect(error).toMatchObject({ uncertain: !answered });
});

test('a fault after which a tool may have run is told as uncertain', async () => {
  const body = { error: 'store_unavailable', message: 'away', uncertain: true };
  server.script(claimed(tokenFor({})), { status: 503, body });
  await client.claimTask('agent-7');

  const failed = client.useTool('bash', { command: 'make' });

  await expect(failed).rejects.toMatchObject({ code: 'store_unavailable', status: 503, uncertain: true });
  expect(server.requests).toHaveLength(2);
});

test('the tries are bounded', async () => {
  server.script('cut', 'cut', 'cut', 'cut', 'cut');

  await expect(client.listRuns()).rejects.toMatchObject({ code: 'server_unreachable', status: null });
  expect(server.requests).toHaveLength(4);
});

test('a server that wants to be left alone for long is reported instead of waited for', async () => {
  server.script({ status: 429, body: { error: 'rate_limited' }, headers: { 'retry-after': '3600' } });

  await expect(client.listRuns()).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 });
  expect(server.requests).toHaveLength(1);
});

test('a refused connection carried nothing, so anything is tried again', async () => {
  const { port } = server;
  await server.close();
  let refusals = 0;
  const patient = connect({
    url: `http://127.0.0.1:${port}`,
    key: KEY,
    async fetch(...request) {
      try {
        return await fetch(...request);
      } catch (error) {
        refusals += 1;
        server = await scriptedServer(port);
        server.script(claimed(tokenFor({})));
        throw error;
      }
    },
  });

  expect(await patient.claimTask('agent-7')).toMatchObject({ task: { id: 'r1' } });
  expect(refusals).toBe(1);
});

test('an answer that takes too long is given up', async () => {
  const hasty = connect({ url: server.url, key: KEY, timeoutMs: 50 });
  server.script('silence');

  await expect(hasty.claimTask('agent-7')).rejects.toMatchObject({
    code: 'server_unreachable',
    message: expect.stringContaining('in time'),
    uncertain: true,
  });
});
