import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, type PhasegateClient } from './connect.ts';
import { connectFromEnvironment } from './connectFromEnvironment.ts';
import { claimed, ended, moved, refused } from './fixtures/replies.ts';
import { type ScriptedServer, scriptedServer, tokenFor } from './fixtures/scriptedServer.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';

const KEY = 'pgk_s3cret-of-agent-7';

let server: ScriptedServer;
let client: PhasegateClient;

beforeEach(async () => {
  server = await scriptedServer();
  client = connect({ url: server.url, key: KEY });
});
afterEach(() => server.close());

describe('a number no JSON has (1e999)', () => {
  test('is refused before it is sent, where it would be written as null [adv.O1]', async () => {
    server.script(claimed(tokenFor({})));
    await client.claimTask('agent-7');

    await expect(
      client.checkTool('read_files', { lines: [1, Number.POSITIVE_INFINITY] }),
    ).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('lines[1]` a number that JSON cannot hold'),
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the task in hand', () => {
  test('is claimed with the key, and used with the token that came with it', async () => {
    const token = tokenFor({});
    server.script(claimed(token), { status: 200, body: { allowed: true } });

    const claim = await client.claimTask('agent-7', { capabilities: ['typescript'] });
    const verdict = await client.checkTool('read_files', { path: 'a.txt' });

    expect(claim?.task.id).toBe('r1');
    expect(claim?.phase_token).toBe(token);
    expect(verdict).toEqual({ allowed: true });
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/api/v1/tasks/claim',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: { agent_id: 'agent-7', capabilities: ['typescript'] },
      },
      {
        url: '/api/v1/tools/check',
        headers: { authorization: `Bearer ${token}` },
        body: { tool: 'read_files', input: { path: 'a.txt' } },
      },
    ]);
  });

  test('is none when nothing is queued', async () => {
    server.script({ status: 204 });

    expect(await client.claimTask('agent-7')).toBeNull();
    await expect(client.getPhase()).rejects.toMatchObject({ code: 'usage' });
    expect(server.requests).toHaveLength(1);
  });

  test('goes on with the token of the next phase after a transition', async () => {
    const next = tokenFor({ phase: 'TDD', epoch: 2 });
    server.script(claimed(tokenFor({})), moved('TDD', next), { status: 200, body: { allowed: true } });
    await client.claimTask('agent-7');

    const transition = await client.requestTransition('TDD', { plan: { steps: [] } });
    await client.checkTool('read_files', { path: 'a.txt' });

    expect(transition).toMatchObject({ allowed: true, status: 'active', phase: 'TDD' });
    expect(server.requests[1]?.body).toEqual({ target: 'TDD', artifacts: { plan: { steps: [] } } });
    expect(server.requests[2]?.headers.authorization).toBe(`Bearer ${next}`);
  });

  test('says nothing of a target that was not given, and `null` for the end', async () => {
    server.script(claimed(tokenFor({})), moved('B', tokenFor({ phase: 'B', epoch: 2 })), ended());
    await client.claimTask('agent-7');

    await client.requestTransition(undefined, {}, { outcome: 'fail', reason: 'no way' });
    await client.requestTransition(null, {});

    expect(server.requests[1]?.body).toEqual({ artifacts: {}, outcome: 'fail', reason: 'no way' });
    expect(server.requests[2]?.body).toEqual({ target: null, artifacts: {} });
  });

  test('is worked on for one visit, which all that is handed in can name [adv.O7]', async () => {
    const late = refused(409, 'run_changed');
    server.script(claimed(tokenFor({})), late, late, late);
    await client.claimTask('agent-7');
    const at = { epoch: 3, visit: 2 };

    for (const handedIn of [
      client.requestTransition(undefined, { plan: {} }, { at }),
      client.askHuman([{ text: 'Which?', options: ['a', 'b'] }], { at }),
      client.reportBlocked('no way', { at }),
    ])
      await expect(handedIn).rejects.toMatchObject({ code: 'run_changed', status: 409 });

    expect(server.requests.slice(1)).toMatchObject([
      { url: '/api/v1/tasks/transition', body: { at } },
      { url: '/api/v1/runs/r1/questions', body: { at } },
      { url: '/api/v1/runs/r1/blocked', body: { at } },
    ]);
  });

  test('is gone at the end, and after the one item that was claimed', async () => {
    for (const last of [
      ended(),
      { status: 200, body: { allowed: true, status: 'active', phase: 'B', task: null } },
    ]) {
      server.script(claimed(tokenFor({})), last);
      await client.claimTask('agent-7');

      await client.requestTransition(null, {});

      await expect(client.getPhase()).rejects.toMatchObject({ code: 'usage' });
    }
  });

  test('is given back with the key', async () => {
    server.script(claimed(tokenFor({})), { status: 200, body: { released: true } });
    await client.claimTask('agent-7');

    await client.release();

    expect(server.requests[1]).toMatchObject({
      url: '/api/v1/tasks/release',
      headers: { authorization: `Bearer ${KEY}` },
      body: { task_id: 'r1' },
    });
    await expect(client.getPhase()).rejects.toMatchObject({ code: 'usage' });
  });

  test('can be one that was handed over by its id: the token is fetched with the first call', async () => {
    const token = tokenFor({ task: 'r9' });
    const rejoining = connect({ url: server.url, key: KEY, task: 'r9' });
    server.script(claimed(token), { status: 200, body: { phase: 'PLAN' } });

    await rejoining.getPhase('PLAN');

    expect(server.requests).toMatchObject([
      { url: '/api/v1/tasks/token', body: { task_id: 'r9' } },
      { url: '/api/v1/runs/r9/phase?phase=PLAN', headers: { authorization: `Bearer ${token}` } },
    ]);
  });

  test('is waited for at a gate, and goes on with a fresh token once a human has decided', async () => {
    const fresh = tokenFor({ phase: 'SHIP', epoch: 3 });
    server.script(
      claimed(tokenFor({})),
      { status: 202, body: { allowed: true, status: 'waiting', phase: 'PLAN', gate: { id: 'ship#1' } } },
      { status: 200, body: { run: 'r1', status: 'waiting' } },
      { status: 200, body: { run: 'r1', status: 'active', phase: 'SHIP' } },
      claimed(fresh),
      { status: 200, body: { phase: 'SHIP' } },
    );
    await client.claimTask('agent-7');

    const waiting = await client.requestTransition('SHIP', {});
    const run = await client.waitForHuman({ pollMs: 1 });
    await client.getPhase();

    expect(waiting).toMatchObject({ status: 'waiting', gate: { id: 'ship#1' } });
    expect(run).toMatchObject({ status: 'active', phase: 'SHIP' });
    expect(server.requests[3]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.requests[5]?.headers.authorization).toBe(`Bearer ${fresh}`);
  });

  test('is not waited for longer than the caller wants', async () => {
    server.script(claimed(tokenFor({})), { status: 200, body: { run: 'r1', status: 'escalated' } });
    await client.claimTask('agent-7');
    const stop = new AbortController();

    const waiting = client.waitForHuman({ signal: stop.signal, pollMs: 1_000_000 });
    stop.abort(new Error('enough'));

    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('a refusal', () => {
  test('of a transition is thrown with its blockers', async () => {
    const blockers = [
      { code: 'check_failed', message: 'tests must fail first', next_action: 'write a test' },
    ];
    server.script(claimed(tokenFor({})), {
      status: 409,
      body: {
        allowed: false,
        error: 'check_failed',
        message: 'tests must fail first',
        blockers,
        next_action: 'go on',
      },
    });
    await client.claimTask('agent-7');

    const refused = await client.requestTransition('IMPL', {}).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(PhasegateClientError);
    expect(refused).toMatchObject({
      code: 'check_failed',
      message: 'tests must fail first',
      blockers,
      status: 409,
      nextAction: 'go on',
      uncertain: false,
    });
  });

  test('of a tool is thrown by `useTool` and given by `checkTool` and `useTools`', async () => {
    const refusal = { allowed: false, code: 'tool_forbidden', reason: 'not in PLAN', next_action: 'read' };
    server.script(
      claimed(tokenFor({})),
      { status: 200, body: { ...refusal, result: null, receipt: null } },
      { status: 200, body: refusal },
      { status: 200, body: { results: [refusal, { allowed: true, result: { ok: true, output: 1 } }] } },
    );
    await client.claimTask('agent-7');

    await expect(client.useTool('bash', { command: 'ls' })).rejects.toMatchObject({
      code: 'tool_forbidden',
      message: 'not in PLAN',
      nextAction: 'read',
      blockers: [{ code: 'tool_forbidden', message: 'not in PLAN', next_action: 'read' }],
    });
    expect(await client.checkTool('bash', { command: 'ls' })).toEqual(refusal);
    const outcomes = await client.useTools([
      { tool: 'bash', input: { command: 'ls' } },
      { tool: 'grep', input: { pattern: 'a' } },
    ]);
    expect(outcomes.map(({ allowed }) => allowed)).toEqual([false, true]);
  });

  test('of a malformed request names every field', async () => {
    const problems = [{ field: 'agent_id', message: 'is too long' }];
    server.script({ status: 422, body: { error: 'request_invalid', message: 'no', problems } });

    await expect(client.claimTask('x')).rejects.toMatchObject({ code: 'request_invalid', problems });
  });

  test('by a proxy, or of a server that is none of ours, has a code too', async () => {
    server.script(
      (response) => response.writeHead(413).end('<html>too large</html>'),
      (response) => response.end('<html>hello</html>'),
    );

    await expect(client.claimTask('x')).rejects.toMatchObject({ code: 'too_large', status: 413 });
    await expect(client.listRuns()).rejects.toMatchObject({ code: 'server_unreachable', status: 200 });
  });
});

describe('secrets', () => {
  test('are in no URL, and not in what is printed of the client or of its errors', async () => {
    const token = tokenFor({});
    server.script(claimed(token), 'cut', refused(401, 'token_invalid'), refused(403, 'not_permitted'));
    server.script({ status: 401, body: { error: 'credential_invalid', message: 'the passphrase is wrong' } });
    await client.claimTask('agent-7');

    const errors = [
      await client.useTool('bash', { command: 'ls' }).catch((error: unknown) => error),
      await client.getPhase().catch((error: unknown) => error),
      await client.signIn({ name: 'maria', passphrase: 'open-sesame' }).catch((error: unknown) => error),
    ];

    const options = { depth: 20, showHidden: true } as const;
    const printed = [client, ...errors].map(
      (value) => `${inspect(value, options)}${JSON.stringify(value)}${value}`,
    );
    for (const text of [...printed, ...server.requests.map(({ url }) => url)]) {
      for (const secret of [KEY, token, 'open-sesame']) expect(text).not.toContain(secret);
    }
  });

  test('that no header can hold are refused before they are sent, and not repeated', () => {
    for (const key of ['', 'two words', 'line\nbreak', 'ümlaut-geheim']) {
      const refusal = catching(() => connect({ url: server.url, key }));
      expect(refusal).toMatchObject({ code: 'usage' });
      if (key !== '') expect(inspect(refusal)).not.toContain(key);
    }
  });

  test.each([
    'http://maria:geheim@localhost:8000',
    'http://localhost:8000/?key=geheim',
    'ftp://geheim',
    'geheim',
  ])('an address like %s is refused and not repeated', (url) => {
    const refusal = catching(() => connect({ url, key: KEY }));

    expect(refusal).toMatchObject({ code: 'usage' });
    expect(inspect(refusal)).not.toContain('geheim');
  });
});

test.each(['', '/', '/api/v1', '/api/v1/'])('an address may end with `%s`', async (end) => {
  server.script({ status: 200, body: { runs: [], next_offset: null } });

  await connect({ url: `${server.url}${end}`, key: KEY }).listRuns({ status: 'queued', limit: 5 });

  expect(server.requests[0]?.url).toBe('/api/v1/runs?status=queued&limit=5');
});

function catching(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

test('no credential goes over plain http to another machine, unless that is allowed [adv.P6]', async () => {
  const asked: string[] = [];
  const fetch = async (url: unknown) => {
    asked.push(String(url));
    return new Response('{"session":"pgs_x","runs":[]}', { status: 200 });
  };
  const away = [
    'http://build.example.com',
    'http://10.0.0.7:8000',
    'http://127.0.0.1.example.com',
    'http://[::2]:80',
    'http://0.0.0.0',
  ];
  for (const url of away) {
    for (const credential of [{}, { key: KEY }, { key: KEY, allowInsecureHttp: false }]) {
      expect(catching(() => connect({ url, fetch, ...credential }))).toMatchObject({ code: 'usage' });
    }
    expect(catching(() => connectFromEnvironment({ PHASEGATE_URL: url, PHASEGATE_KEY: KEY }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('--insecure-http'),
    });
  }
  expect(asked).toEqual([]);

  const near = [
    'http://localhost:1',
    'http://127.9.9.9',
    'http://0x7f.1',
    'http://[::1]:8000',
    'http://[::ffff:127.0.0.1]',
  ];
  for (const url of [...near, 'https://build.example.com'])
    await connect({ url, fetch, key: KEY }).listRuns();
  await connect({ url: 'http://build.example.com', fetch, allowInsecureHttp: true }).signIn({
    passphrase: 'x',
  });
  expect(asked).toHaveLength(near.length + 2);
});
