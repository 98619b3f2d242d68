import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect, type PhasegateClient } from './connect.ts';
import { claimed, moved, refused } from './fixtures/replies.ts';
import { type ScriptedServer, scriptedServer, tokenFor } from './fixtures/scriptedServer.ts';

const KEY = 'pgk_s3cret-of-agent-7';

let server: ScriptedServer;
let client: PhasegateClient;

beforeEach(async () => {
  server = await scriptedServer();
  client = connect({ url: server.url, key: KEY });
});
afterEach(() => server.close());

test.each(['token_expired', 'token_invalid'])('%s: renewed once, and the call made again', async (error) => {
  const fresh = tokenFor({});
  server.script(
    claimed(tokenFor({})),
    refused(401, error),
    claimed(fresh),
    moved('TDD', tokenFor({ epoch: 2 })),
  );
  await client.claimTask('agent-7');

  await client.requestTransition('TDD', {});

  expect(paths()).toEqual(['/tasks/claim', '/tasks/transition', '/tasks/token', '/tasks/transition']);
  expect(server.requests[2]).toMatchObject({
    headers: { authorization: `Bearer ${KEY}` },
    body: { task_id: 'r1' },
  });
  expect(server.requests[3]?.headers.authorization).toBe(`Bearer ${fresh}`);
});

test('a second refusal is thrown, not renewed again', async () => {
  server.script(claimed(tokenFor({})), refused(401, 'token_expired'), claimed(tokenFor({})));
  server.script(refused(401, 'token_expired'));
  await client.claimTask('agent-7');

  await expect(client.getPhase()).rejects.toMatchObject({ code: 'token_expired' });
  expect(server.requests).toHaveLength(4);
});

test('near its expiry it is renewed before it is used, once for all calls under way', async () => {
  const fresh = tokenFor({});
  server.script(claimed(tokenFor({ lifetime: 0 })), claimed(fresh));
  server.script({ status: 200, body: {} }, { status: 200, body: {} }, { status: 200, body: {} });
  await client.claimTask('agent-7');

  await Promise.all([client.getPhase(), client.getPhase(), client.getStateSnapshot()]);

  expect(paths().filter((path) => path === '/tasks/token')).toHaveLength(1);
  expect(server.requests.slice(2).map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill(`Bearer ${fresh}`),
  );
});

test('an item is renewed as that item', async () => {
  server.script(
    claimed(tokenFor({ item: 'b' })),
    refused(401, 'token_expired'),
    claimed(tokenFor({ item: 'b' })),
  );
  server.script({ status: 200, body: {} });
  await client.claimTask('agent-7');

  await client.getPhase();

  expect(server.requests[2]?.body).toEqual({ task_id: 'r1', item: 'b' });
});

test('after a human moved the run, reading goes on and doing stops: it was meant for another phase', async () => {
  const script = () =>
    server.script(
      claimed(tokenFor({ epoch: 1 })),
      refused(403, 'token_dead'),
      claimed(tokenFor({ phase: 'TDD', epoch: 2 })),
      { status: 200, body: { allowed: true, phase: 'TDD', result: { ok: true, output: null } } },
    );
  script();
  await client.claimTask('agent-7');
  expect(await client.getPhase()).toMatchObject({ phase: 'TDD' });

  script();
  await client.claimTask('agent-7');
  await expect(client.requestTransition(undefined, { plan: {} })).rejects.toMatchObject({
    code: 'token_dead',
    message: expect.stringContaining('now in phase `TDD`'),
  });
  expect(await client.useTool('read_files', { path: 'a' })).toMatchObject({ allowed: true });
});

test('a task that went to another agent is out of hand', async () => {
  server.script(claimed(tokenFor({})), refused(403, 'token_dead'), refused(403, 'not_permitted'));
  await client.claimTask('agent-7');

  await expect(client.useTool('bash', {})).rejects.toMatchObject({ code: 'token_dead' });
  await expect(client.getPhase()).rejects.toMatchObject({ code: 'usage' });
});

test('without a key there is nothing to renew it with', async () => {
  const bare = connect({ url: server.url, token: tokenFor({}) });
  server.script(refused(401, 'token_expired'));

  await expect(bare.getPhase()).rejects.toMatchObject({ code: 'token_expired' });
  expect(server.requests).toHaveLength(1);
});

function paths(): readonly string[] {
  return server.requests.map(({ url }) => url.replace('/api/v1', ''));
}
