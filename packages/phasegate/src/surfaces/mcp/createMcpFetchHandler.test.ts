import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { makeTestBed, mount, send } from './fixtures/connect.ts';
import { ERRAND } from './fixtures/workflows.ts';

const URL_OF_SERVER = 'http://127.0.0.1:8000/mcp';
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
});
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

test('an older client has a session, in which its user can be asked', async () => {
  const handler = await mounted();
  const elicit = (): ElicitResult => ({ action: 'accept', content: { answer_1: 'North' } });
  const { client, transport } = await older(handler, elicit);

  const started = await client.callTool({ name: 'start_workflow', arguments: { workflow_type: 'errand' } });
  const { session_id } = started.structuredContent as { session_id: string };
  const asked = await client.callTool({
    name: 'ask_human',
    arguments: { session_id, questions: [{ text: 'Which way?', options: ['North', 'South'] }] },
  });

  expect(transport.sessionId).toMatch(/^[0-9a-f-]{36}$/);
  expect(client.getProtocolEra()).toBe('legacy');
  expect(asked.structuredContent).toMatchObject({ answers: [{ text: 'North', elicited: true }] });
});

test('a client that can both is served by the newest protocol', async () => {
  const handler = await mounted();
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(URL_OF_SERVER), { fetch: send(handler) }));
  onTestFinished(() => client.close());

  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect((await client.listTools()).tools).toHaveLength(11);
});

test.each([
  ['a name that was rebound', { host: 'evil.example' }],
  ['a page of another origin', { host: '127.0.0.1:8000', origin: 'https://evil.example' }],
])('%s is turned away', async (_name, headers) => {
  const handler = await mounted();

  const response = await handler.fetch(post(LIST, headers));

  expect(response.status).toBe(403);
});

test('an agent that opens 257 sessions closes its own, and nobody else’s [adv.O5]', async () => {
  const handler = await mounted();
  const as = (clientId: string) => ({ authInfo: { token: 't', clientId, scopes: [], expiresAt: 9e9 } });
  const open = async (who: string) => {
    const response = await handler.fetch(post(INITIALIZE, { host: '127.0.0.1' }), as(who));
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const stands = async (who: string, id: string) => {
    const response = await handler.fetch(post(LIST, { host: '127.0.0.1', 'mcp-session-id': id }), as(who));
    await response.text();
    return response.status === 200;
  };
  const bob = await open('bob');
  const first = await open('ada');

  let last = first;
  for (let more = 0; more < 256; more += 1) last = await open('ada');

  expect([await stands('bob', bob), await stands('ada', first), await stands('ada', last)]).toEqual([
    ...[true, false, true],
  ]);
});

test('a session in other hands, a closed one and none at all open nothing', async () => {
  const handler = await mounted();
  const { transport } = await older(handler);
  const session = { host: '127.0.0.1', 'mcp-session-id': transport.sessionId ?? '' };
  const stranger = { authInfo: { token: 't', clientId: 'other', scopes: [], expiresAt: 9e9 } };

  expect((await handler.fetch(post(LIST, session), stranger)).status).toBe(404);
  expect((await handler.fetch(post(LIST, session))).status).toBe(200);
  expect((await handler.fetch(post(LIST, { ...session, 'mcp-session-id': 'made-up' }))).status).toBe(404);
  expect((await handler.fetch(post(LIST, { host: '127.0.0.1' }))).status).toBe(400);
  await transport.terminateSession();
  expect((await handler.fetch(post(LIST, session))).status).toBe(404);
});

test('the oldest session of an agent makes room when it has too many [adv.O5]', async () => {
  const handler = await mounted();
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const ids: string[] = [];
  for (let count = 0; count < 257; count++) {
    const response = await handler.fetch(post(initialize, { host: '127.0.0.1' }));
    await response.text();
    ids.push(response.headers.get('mcp-session-id') ?? '');
  }
  const statusOf = async (id: string | undefined) =>
    (await handler.fetch(post(LIST, { host: '127.0.0.1', 'mcp-session-id': id ?? '' }))).status;

  expect(await statusOf(ids[0])).toBe(404);
  expect(await statusOf(ids[240])).toBe(404);
  expect(await statusOf(ids[241])).toBe(200);
  expect(await statusOf(ids[256])).toBe(200);
});

test('a body over the limit and a body that is no JSON are refused', async () => {
  const handler = await mounted();
  const huge = post(`"${'x'.repeat(33 * 1024 * 1024)}"`, { host: '127.0.0.1' });

  expect((await handler.fetch(huge)).status).toBe(413);
  expect((await handler.fetch(post('{', { host: '127.0.0.1' }))).status).toBe(400);
});

test('a body nested without end is refused from its brackets, and one a little too deep reaches the tool [adv.O4]', async () => {
  const handler = await mounted();
  const call = (levels: number) => {
    const evidence = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const params = `{"name":"complete_phase","arguments":{"session_id":"none","phase":"LOOK","evidence":${evidence}}}`;
    return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":${params}}`;
  };
  const opened = await handler.fetch(post(INITIALIZE, { host: '127.0.0.1' }));
  await opened.text();
  const session = { host: '127.0.0.1', 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };

  const endless = await handler.fetch(post(call(100_000), session));
  expect(endless.status).toBe(400);
  expect(await endless.json()).toMatchObject({
    error: { message: expect.stringContaining('nested too deeply') },
  });
  const deep = await handler.fetch(post(call(300), session));
  expect(await deep.text()).toContain('session_unknown');
});

async function mounted(): Promise<ReturnType<typeof mount>> {
  const bed = await makeTestBed({ 'errand.workflow.yaml': ERRAND });
  const handler = mount(bed.parts());
  onTestFinished(() => handler.close());
  return handler;
}

async function older(handler: ReturnType<typeof mount>, elicit?: () => ElicitResult) {
  const capabilities = elicit === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  if (elicit !== undefined) client.setRequestHandler('elicitation/create', async () => elicit());
  const transport = new StreamableHTTPClientTransport(new URL(URL_OF_SERVER), { fetch: send(handler) });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

function post(body: string, headers: Readonly<Record<string, string>>): Request {
  return new Request(URL_OF_SERVER, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
}
