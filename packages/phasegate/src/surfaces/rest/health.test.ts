import type { IncomingMessage } from 'node:http';
import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';

const TOKEN = 'metrics-token-0123456789';
const FAR = { incoming: { socket: { remoteAddress: '10.0.0.7' } } as IncomingMessage };

describe('the routes machines watch', () => {
  test('say on this machine that the process lives and the store answers', async () => {
    const { app } = openDoor();

    expect(await (await app.request('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await app.request('/readyz')).json()).toEqual({ status: 'ready' });
  });

  test('say that the server is not ready when the store does not answer or takes no writes, no token can be believed, or it stops', async () => {
    const broken = openDoor({
      wrap: (project) => ({
        ...project,
        feed: {
          ...project.feed,
          newest: () => Promise.reject(new PhasegateError('store_unavailable', 'gone')),
        },
      }),
    });
    const keyless = openDoor({
      wrap: (project) => ({
        ...project,
        server: {
          ...project.server,
          demandKeys: () => {
            throw new PhasegateError('keys_unavailable', 'the file is not there');
          },
        },
      }),
    });
    const unwritable = openDoor({
      wrap: (project) => ({
        ...project,
        server: {
          ...project.server,
          demandWritable: () => Promise.reject(new PhasegateError('store_unavailable', 'locked')),
        },
      }),
    });
    const stopping = openDoor();
    stopping.app.endStreams();

    expect((await broken.app.request('/readyz')).status).toBe(503);
    expect((await broken.app.request('/healthz')).status).toBe(200);
    expect((await stopping.app.request('/readyz')).status).toBe(503);
    const locked = await unwritable.app.request('/readyz');
    expect([locked.status, await locked.json()]).toEqual([503, { status: 'store_unavailable' }]);
    const told = await keyless.app.request('/readyz');
    expect([told.status, await told.json()]).toEqual([503, { status: 'keys_unavailable' }]);
  });

  test.each(['/healthz', '/readyz'])(
    'are open to anyone, from anywhere, and say no more: %s',
    async (path) => {
      const proxied = openDoor({ settings: { secure: true, behindProxy: true, metricsToken: TOKEN } });

      for (const headers of [{}, { authorization: 'Bearer pgk_nobody' }, { 'x-forwarded-for': '10.0.0.7' }]) {
        const response = await proxied.app.request(path, { headers }, FAR);
        expect(response.status).toBe(200);
        expect(Object.keys((await response.json()) as object)).toEqual(['status']);
      }
      expect(await proxied.noted('credential_failed')).toEqual([]);
    },
  );

  test('ask the store once for all who ask at a time, and again after a second', async () => {
    let asked = 0;
    let looks = Promise.withResolvers<() => void>();
    const door = openDoor({
      wrap: (project) => ({
        ...project,
        feed: {
          ...project.feed,
          newest: () => {
            asked += 1;
            return new Promise((resolve) => looks.resolve(() => resolve(0)));
          },
        },
      }),
    });
    asked = 0;
    looks = Promise.withResolvers();
    const many = Array.from({ length: 50 }, async () => door.app.request('/readyz'));
    (await looks.promise)();

    for (const { status } of await Promise.all(many)) expect(status).toBe(200);
    await door.app.request('/readyz');
    expect(asked).toBe(1);
    door.pass(1000);
    looks = Promise.withResolvers();
    const again = door.app.request('/readyz');
    (await looks.promise)();
    await again;
    expect(asked).toBe(2);
  });
});

describe('who may see the metrics', () => {
  test('is anyone on this machine and a human elsewhere, as long as no token is set', async () => {
    const local = openDoor();
    const open = openDoor({
      settings: { origin: 'https://gate.example', hosts: ['gate.example', 'localhost'], secure: true },
    });
    const proxied = openDoor({ settings: { secure: true, behindProxy: true } });
    const forwarded = { headers: { 'x-forwarded-for': '10.0.0.7' } };

    expect((await local.app.request('/metrics')).status).toBe(200);
    expect((await local.app.request('/metrics', {}, FAR)).status).toBe(401);
    expect((await local.app.request('/metrics', forwarded)).status).toBe(401);
    expect((await proxied.app.request('/metrics')).status).toBe(401);
    expect((await open.app.request('/metrics')).status).toBe(401);
    expect((await open.app.request('/metrics', { headers: await open.operator() })).status).toBe(200);
    expect((await open.app.request('/metrics', { headers: await open.agent('ada') })).status).toBe(403);
  });

  test('is the one who has the token, or a human, where one is set; being here is not enough', async () => {
    const door = openDoor({ settings: { metricsToken: TOKEN } });
    const ask = async (authorization: string, path = '/metrics', from = {}) =>
      (await door.app.request(path, { headers: { authorization } }, from)).status;

    expect((await door.app.request('/metrics')).status).toBe(401);
    expect(await ask(`Bearer ${TOKEN}`)).toBe(200);
    expect(await ask(`Bearer ${TOKEN}`, '/metrics', FAR)).toBe(200);
    expect(await ask((await door.operator()).authorization)).toBe(200);
    expect(await ask((await door.agent('ada')).authorization)).toBe(403);
    for (const wrong of [TOKEN.slice(0, -1), `${TOKEN}x`, TOKEN.toUpperCase(), ''])
      expect(await ask(`Bearer ${wrong}`), wrong).toBe(401);
    expect(await ask('', `/metrics?token=${TOKEN}`)).toBe(401);
  });

  test('with the token is let in to nothing else, and guesses are written down and limited', async () => {
    const door = openDoor({ settings: { metricsToken: TOKEN } });
    const headers = { authorization: `Bearer ${TOKEN}` };

    for (const path of ['/api/v1/runs', '/api/v1/agents', '/api/v1/events', '/mcp', '/metrics/x'])
      expect([401, 404], path).toContain((await door.app.request(path, { headers })).status);
    const guess = async () =>
      (await door.app.request('/metrics', { headers: { authorization: 'Bearer aGuessOfAToken' } })).status;
    const statuses = await Promise.all(Array.from({ length: 30 }, guess));
    expect(statuses).toContain(429);
    expect(JSON.stringify(await door.noted('credential_failed'))).not.toContain('aGuessOfAToken');
    expect((await door.app.request('/metrics', { headers })).status).toBe(200);
  });
});

describe('the metrics', () => {
  test('count a phase that is completed without a token, as over MCP [S2.76]', async () => {
    const door = openDoor();
    const ada = door.app.project.as({ kind: 'agent', name: 'ada' });
    const { view } = await ada.start({ workflow: 'errand' });
    const phase = view?.phase ?? '';

    await ada.submit(view?.run ?? '', { kind: 'complete', phase: 'NOWHERE', evidence: {} });
    await ada.submit(view?.run ?? '', { kind: 'complete', phase, evidence: {} });

    const text = await (await door.app.request('/metrics')).text();
    expect(text).toContain('phasegate_transitions_total{verdict="refused"} 1');
    expect(text).toContain('phasegate_transitions_total{verdict="allowed"} 1');
  });

  test('count a phase that another process completes, once however often they are asked [S2.76]', async () => {
    const door = openDoor();
    await door.app.request('/metrics');
    // The runtime itself, without anything of the server around it.
    const ada = door.memory.project.as({ kind: 'agent', name: 'ada' });
    const { view } = await ada.start({ workflow: 'errand' });
    await ada.submit(view?.run ?? '', { kind: 'complete', phase: view?.phase ?? '', evidence: {} });

    const asked = await Promise.all([1, 2, 3].map(async () => (await door.app.request('/metrics')).text()));

    expect(asked[2]).toContain('phasegate_transitions_total{verdict="allowed"} 1');
    expect(asked[2]).toContain('phasegate_transitions_total{verdict="refused"} 0');
  });

  test('count requests by route, verdicts by tool, transitions, claims and refused credentials [S2.76]', async () => {
    const door = openDoor();
    const { authorization, run } = await door.holder('ada');
    const headers = { authorization, 'content-type': 'application/json' };
    const post = (path: string, body: unknown) =>
      door.app.request(`/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await post('/tools/check', { tool: 'read_files', input: { paths: ['a.txt'] } });
    await post('/tools/check', { tool: 'made-up-by-an-agent', input: {} });
    await post('/tasks/transition', { target: 'NOWHERE', artifacts: {} });
    await post('/tasks/transition', { artifacts: {} });
    await door.app.request('/api/v1/session', { headers: { authorization: 'Bearer pgk_x' } });

    const text = await (await door.app.request('/metrics')).text();

    expect(text).toContain('phasegate_tool_verdicts_total{tool="read_files",verdict="allowed"} 1');
    expect(text).toContain('phasegate_tool_verdicts_total{tool="other",verdict="refused"} 1');
    expect(text).toContain('phasegate_transitions_total{verdict="refused"} 1');
    expect(text).toContain('phasegate_transitions_total{verdict="allowed"} 1');
    expect(text).toContain('phasegate_credential_failures_total{reason="unknown"} 1');
    expect(text).toContain(
      'phasegate_http_requests_total{route="/api/v1/tools/check",method="POST",status="200"} 2',
    );
    expect(text).toContain('phasegate_runs{status="active"} 1');
    expect(text).toContain('phasegate_leases 1');
    expect(text).toContain('phasegate_event_streams 0');
    expect(text).not.toContain(run);
    expect(text).not.toContain('made-up-by-an-agent');
  });
});
