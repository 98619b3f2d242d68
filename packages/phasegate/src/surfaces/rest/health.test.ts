import type { IncomingMessage } from 'node:http';
import { PhasegateError } from '@phasegate/core';
import { describe, expect, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';

describe('the routes machines watch', () => {
  test('say on this machine that the process lives and the store answers', async () => {
    const { app } = openDoor();

    expect(await (await app.request('/healthz')).json()).toEqual({ status: 'ok' });
    expect(await (await app.request('/readyz')).json()).toEqual({ status: 'ready' });
  });

  test('say that the server is not ready when the store does not answer, or when it stops', async () => {
    const broken = openDoor({
      wrap: (project) => ({
        ...project,
        feed: {
          ...project.feed,
          newest: () => Promise.reject(new PhasegateError('store_unavailable', 'gone')),
        },
      }),
    });
    const stopping = openDoor();
    stopping.app.endStreams();

    expect((await broken.app.request('/readyz')).status).toBe(503);
    expect((await broken.app.request('/healthz')).status).toBe(200);
    expect((await stopping.app.request('/readyz')).status).toBe(503);
  });

  test.each(['/healthz', '/readyz', '/metrics'])('ask for a human elsewhere: %s', async (path) => {
    const local = openDoor();
    const open = openDoor({
      settings: { origin: 'https://gate.example', hosts: ['gate.example', 'localhost'], secure: true },
    });
    const proxied = openDoor({ settings: { secure: true, behindProxy: true } });
    const far = { incoming: { socket: { remoteAddress: '10.0.0.7' } } as IncomingMessage };

    expect((await local.app.request(path)).status).toBe(200);
    expect((await local.app.request(path, {}, far)).status).toBe(401);
    expect((await local.app.request(path, { headers: { 'x-forwarded-for': '10.0.0.7' } })).status).toBe(401);
    expect((await proxied.app.request(path)).status).toBe(401);
    expect((await open.app.request(path)).status).toBe(401);
    expect((await open.app.request(path, { headers: await open.operator() })).status).toBe(200);
    expect((await open.app.request(path, { headers: await open.agent('ada') })).status).toBe(403);
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
