import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';
import { serveHttp } from './httpServer.ts';
import type { McpCaller } from './parts.ts';
import type { Endpoint } from './routes/endpoint.ts';
import { BASE, ENDPOINTS } from './routes/index.ts';

test('an unknown route is 404, a known one with another method 405 with those it has', async () => {
  const { app } = openDoor();
  const unknown = await app.request('/api/v1/nothing');
  const other = await app.request('/api/v1/events', { method: 'DELETE' });
  const preflight = await app.request('/api/v1/events', { method: 'OPTIONS' });

  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ error: 'route_unknown', instance: '/api/v1/nothing' });
  expect(other.status).toBe(405);
  expect(other.headers.get('allow')).toBe('GET, HEAD');
  expect(preflight.status).toBe(405);
  expect(preflight.headers.has('access-control-allow-origin')).toBe(false);
});

test("every route of a human's refuses an agent, by key and by token, and every route refuses nobody [adv.H8 adv.J1]", async () => {
  const door = openDoor();
  const { authorization, key, run } = await door.holder('ada');
  const ask = async ({ method, path }: Endpoint, headers: Readonly<Record<string, string>>) => {
    const url = `${BASE}${path.replace('{id}', run).replace(/\{\w+\}/g, 'x')}`;
    const body = method === 'get' ? {} : { body: '{}' };
    const init = {
      method: method.toUpperCase(),
      headers: { ...headers, 'content-type': 'application/json' },
      ...body,
    };
    return (await door.app.request(url, init)).status;
  };
  const humans = ENDPOINTS.filter(({ who }) => who.every((kind) => kind === 'human'));

  expect(humans.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/runs/{id}/decisions', '/runs/{id}/answers']),
  );
  for (const route of humans) {
    expect([route.path, await ask(route, { authorization })]).toEqual([route.path, 403]);
    expect([route.path, await ask(route, { authorization: key })]).toEqual([route.path, 403]);
  }
  for (const route of ENDPOINTS) expect([route.path, await ask(route, {})]).toEqual([route.path, 401]);
});

test('what breaks inside is answered without the inside, and is in the log', async () => {
  const door = openDoor({
    wrap: (project) => ({
      ...project,
      agents: { ...project.agents, identify: () => Promise.reject(new Error('secret inside')) },
    }),
  });

  const response = await door.app.request('/api/v1/session', { headers: { authorization: 'Bearer pgk_x' } });
  const body = (await response.json()) as { id: string };

  expect(response.status).toBe(500);
  expect(body).toMatchObject({ error: 'internal', id: expect.any(String) });
  expect(JSON.stringify(body)).not.toContain('secret inside');
  expect(door.logged).toMatchObject([{ id: body.id, cause: expect.stringContaining('secret inside') }]);
});

test('MCP is served to agents by key and by token, and to nobody else', async () => {
  const calls: McpCaller[] = [];
  const mcp = {
    fetch: async (_request: Request, caller: McpCaller) => {
      calls.push(caller);
      return new Response('{}', { headers: { 'content-type': 'application/json' } });
    },
    close: async () => undefined,
  };
  const door = openDoor({ mcp });
  const { authorization, key, run } = await door.holder('ada');
  const post = async (headers: Readonly<Record<string, string>>) =>
    (await door.app.request('/mcp', { method: 'POST', headers, body: '{}' })).status;

  expect(await post({ authorization: key })).toBe(200);
  expect(await post({ authorization })).toBe(200);
  expect(await post({})).toBe(401);
  expect(await post(await door.operator())).toBe(403);
  expect(await post({ authorization, origin: 'https://evil.example' })).toBe(403);
  expect(calls).toMatchObject([
    { agent: 'ada', run: null, admitted: null },
    { agent: 'ada', run, admitted: { runId: run } },
  ]);
});

test('without MCP there is no such route', async () => {
  const door = openDoor();

  expect((await door.app.request('/mcp', { method: 'POST', headers: await door.agent('ada') })).status).toBe(
    404,
  );
});

test('a body of 100 MB in pieces is refused without being kept, and the server goes on', async () => {
  const { app } = openDoor();
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const before = process.memoryUsage().arrayBuffers;
  const socket = connect(server.port, '127.0.0.1');
  const answered = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(text));
  });
  const piece = Buffer.alloc(1024 * 1024, 0x20);
  socket.write(
    'POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  for (let sent = 0; sent < 100 && !socket.destroyed; sent++) {
    socket.write('100000\r\n');
    socket.write(piece);
    const wait = !socket.write('\r\n');
    if (wait) await new Promise((resolve) => ['drain', 'close'].map((event) => socket.once(event, resolve)));
  }

  expect(await answered).toMatch(/^HTTP\/1.1 413 /);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(30 * 1024 * 1024);
  expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200);
});
