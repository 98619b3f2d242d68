import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type JsonObject, PhasegateError } from '@phasegate/core';
import { connect } from '@phasegate/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalServer } from './localServer.ts';
import { openTestProject } from './runtime/fixtures/openTestProject.ts';
import type { AgentPrincipal, RunningServer, ToolImplementation } from './runtime/ports.ts';

const ERRAND = `
workflow: errand
enforcement: { workspace: shared }
phases:
  GO: { instructions: Go there, allowed_tools: ["mcp:notes/add"] }
  RETURN: { instructions: Come back, allowed_tools: [read_files] }
`;
const ADA: AgentPrincipal = { kind: 'agent', name: 'ada' };

test.each(['legacy', 'modern'] as const)(
  'an agent works over /mcp with its key, and nobody else on its run (%s client)',
  async (era) => {
    const server = await served();
    const ada = await clientOf(server, await keyOf(server, 'ada'), era);
    const bob = await clientOf(server, await keyOf(server, 'bob'), era);

    const started = await ada.call('start_workflow', { workflow_type: 'errand' });
    const session_id = String(started.session_id);

    expect(started).toMatchObject({ phase: 'GO', phase_content: expect.stringContaining('Go there') });
    expect(await bob.call('get_current_phase', { session_id })).toMatchObject({ error: 'not_your_run' });
    const moved = await ada.call('complete_phase', { session_id, phase: 'GO', evidence: {} });
    expect(moved).toMatchObject({ checkpoint_passed: true, next_phase: 'RETURN' });
    expect(moved).not.toHaveProperty('phase_token');
    expect((await server.open.as(ADA).view(session_id)).holder).toBe('ada');
  },
);

test.each(['legacy', 'modern'] as const)(
  'what an agent hands in with its key counts for the visit it was told of (%s client) [adv.O7]',
  async (era) => {
    const server = await served();
    const ada = await clientOf(server, await keyOf(server, 'ada'), era);
    const session_id = String((await ada.call('start_workflow', { workflow_type: 'errand' })).session_id);
    await server.open.as(ADA).submit(session_id, { kind: 'complete', phase: 'GO', evidence: {} });
    const done = () => ada.call('complete_phase', { session_id, phase: 'RETURN', evidence: {} });

    expect(await done()).toMatchObject({ error: 'run_changed' });
    await ada.call('get_current_phase', { session_id });
    expect(await done()).toMatchObject({ workflow_complete: true });
  },
);

test('a phase token serves its run and no other, and the next one comes with the phase that is left', async () => {
  const server = await served();
  const [mine, other] = [await queued(server), await queued(server)];
  const { token } = await server.open.claims.claimRun(mine, ADA, []);
  const client = await clientOf(server, token, 'modern');

  expect(await client.call('get_current_phase')).toMatchObject({ session_id: mine, phase: 'GO' });
  expect(await client.call('get_current_phase', { session_id: other })).toHaveProperty('error');
  const moved = await client.call('complete_phase', { phase: 'GO', evidence: {} });

  const { phase_token } = moved;
  expect(
    await clientOf(server, String(phase_token), 'modern').then((next) => next.call('get_current_phase')),
  ).toMatchObject({
    phase: 'RETURN',
  });
  await expect(client.call('get_current_phase')).rejects.toThrow();
});

test.each([
  ['no credential', {}, 401],
  ['a key that is nobody’s', { authorization: 'Bearer pgk_nobody' }, 401],
  ['a name that was rebound', { host: 'evil.example', authorization: 'KEY' }, 403],
  ['a page of another origin', { origin: 'https://evil.example', authorization: 'KEY' }, 403],
])('/mcp is closed to %s', async (_name, given: Readonly<Record<string, string>>, status) => {
  const server = await served();
  const key = await keyOf(server, 'ada');
  const headers = { ...given, ...(given.authorization === 'KEY' ? { authorization: `Bearer ${key}` } : {}) };

  expect(await statusOf(`${server.url}/mcp`, headers)).toBe(status);
});

test.each(['legacy', 'modern'] as const)(
  'tools of attached servers are listed over /mcp and judged when called (%s client)',
  async (era) => {
    const server = await served();
    const added: JsonObject[] = [];
    server.open.toolbox.register(notesTool(added));
    const ada = await clientOf(server, await keyOf(server, 'ada'), era);
    const call = () => ada.text('notes__add', { note: 'hello' });

    expect((await ada.client.listTools()).tools.map(({ name }) => name)).toContain('notes__add');
    expect(await call()).toMatchObject({ allowed: false, error: 'no_run' });
    const run = await queued(server);
    await server.open.claims.claimRun(run, ADA, []);
    expect(await call()).toMatchObject({ allowed: true, result: { ok: true, output: 'added' } });
    await ada.call('complete_phase', { session_id: run, phase: 'GO', evidence: {} });
    expect(await call()).toMatchObject({ allowed: false });
    const second = await queued(server);
    await server.open.claims.claimRun(second, ADA, []);
    expect(await call()).toMatchObject({ allowed: false, error: 'no_run' });

    expect(added).toEqual([{ note: 'hello' }]);
    const records = await server.open.as({ kind: 'human', name: 'maria' }).history(run);
    expect(records.filter(({ event }) => event === 'tool_judged').map(({ data }) => data)).toMatchObject([
      { tool: 'mcp:notes/add', allowed: true },
      { tool: 'mcp:notes/add', allowed: false },
    ]);
  },
);

test('a server closes once, however often it is asked, and leaves its place to another', async () => {
  const { project, open } = await makeProject();
  const first = await open();

  await expect(open()).rejects.toMatchObject({ code: 'server_running' });
  await Promise.all([first.close(), first.close()]);
  const second = await open();
  await second.close();

  const store = await project.open();
  const records = await store.as({ kind: 'human', name: 'maria' }).history(null);
  await store.close();
  expect(records.map(({ event }) => event)).toEqual([
    'server_started',
    'server_stopped',
    'server_started',
    'server_stopped',
  ]);
});

test('a port that is taken leaves no place behind', async () => {
  const { open } = await makeProject();
  const { url } = await served();

  await expect(open(Number(new URL(url).port))).rejects.toMatchObject({ code: 'usage' });
  await (await open()).close();
});

test('a socket in the file system is for the user of the server, and serves what the port does', async () => {
  const { open, base } = await makeProject();
  const socket = join(base, 'socket');
  const server = await open(0, socket);
  onTestFinished(() => server.close());
  const key = await keyOf(server, 'ada');
  await queued(server);

  expect(statSync(socket).mode & 0o777).toBe(0o600);
  const ada = connect({ url: `unix:${socket}`, key });
  expect(await ada.whoAmI()).toMatchObject({ name: 'ada' });
  expect(await ada.claimTask('ada')).toMatchObject({ task: { phase: 'GO' } });
  expect(await ada.requestTransition('RETURN', {})).toMatchObject({ allowed: true });
  await expect(connect({ url: `unix:${socket}`, key: 'pgk_other' }).whoAmI()).rejects.toMatchObject({
    code: 'credential_invalid',
  });
  await server.close();
  expect(existsSync(socket)).toBe(false);
  await expect(connect({ url: `unix:${socket}`, key }).whoAmI()).rejects.toMatchObject({
    code: 'server_unreachable',
    message: expect.stringContaining(`unix:${socket}`),
  });
});

test('a socket is put in the place of one that was left behind, and of nothing else', async () => {
  const { open, base } = await makeProject();
  const [left, file, missing] = [join(base, 'left'), join(base, 'file'), join(base, 'none', 'socket')];
  // Node removes the socket of a server that closes; one that was killed leaves it.
  execFileSync('python3', [
    '-c',
    `import socket; socket.socket(socket.AF_UNIX).bind(${JSON.stringify(left)})`,
  ]);
  writeFileSync(file, 'mine');

  await (await open(0, left)).close();
  for (const path of [file, missing]) {
    await expect(open(0, path)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(path),
    });
  }
  expect(readFileSync(file, 'utf8')).toBe('mine');
  await (await open()).close();
});

test('a server gives anchors to the place that the config names, and tells where the audit no longer goes through one', async () => {
  const { project, base, open } = await makeProject();
  const file = join(base, 'anchors');
  writeFileSync(
    join(project.root, 'phasegate.config.json'),
    JSON.stringify({ anchors: { file, every: '1m' } }),
  );
  const told: string[] = [];

  await (await open()).close();
  const [first = ''] = readFileSync(file, 'utf8').split('\n');
  await (await open()).close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const opened = await project.open();
  const report = await opened.verifyAudit({ anchors: lines });
  const events = (await opened.feed.after(0, 100)).map(({ event }) => event);
  await opened.close();
  // Of another project: this audit does not go on from there.
  writeFileSync(file, `${first.slice(0, 20)}A${first.slice(21)}\n`);
  const server = await openLocalServer({ project, port: 0, log: (text) => void told.push(text) });
  await server.close();

  expect(lines).toHaveLength(2);
  expect(report).toMatchObject({ ok: true, findings: [] });
  expect(events.filter((event) => event === 'audit_anchored')).toHaveLength(2);
  expect(told.join('\n')).toContain(`no anchor was made: the last anchor in \`${file}\` does not have`);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1);
});

test('a server whose start cannot be noted leaves its port and its place, so that its process ends', async () => {
  const { project, open } = await makeProject();
  let url = '';
  const refusing: typeof project = {
    ...project,
    stateDir: project.stateDir,
    open: async () => {
      const opened = await project.open();
      const note: typeof opened.server.note = async (_event, _by, data) => {
        url = String((data as { url?: string }).url);
        throw new PhasegateError('store_unavailable', 'it takes no writes');
      };
      return { ...opened, server: { ...opened.server, note } };
    },
  };

  const refused = openLocalServer({ project: refusing, port: 0, log: () => undefined });

  await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  await (await open()).close();
});

async function served(): Promise<RunningServer> {
  const { open } = await makeProject();
  const server = await open();
  onTestFinished(() => server.close());
  return server;
}

async function makeProject() {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-served-'));
  const root = join(base, 'project');
  mkdirSync(root);
  writeFileSync(join(root, 'agent_workflow.yaml'), ERRAND);
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const env = { HOME: base, XDG_STATE_HOME: join(base, 'state') };
  const project = await openTestProject({ projectDir: root, env });
  const open = (port = 0, socket?: string) =>
    openLocalServer({ project, port, ...(socket === undefined ? {} : { socket }), log: () => undefined });
  return { project, base, open };
}

async function keyOf({ open }: RunningServer, name: string): Promise<string> {
  return (await open.agents.add(name, { by: null })).key;
}

async function queued({ open }: RunningServer): Promise<string> {
  const { view } = await open.as({ kind: 'human', name: 'maria' }).start({ workflow: 'errand', queue: true });
  return view?.run ?? expect.fail('no run was made');
}

/** The SDK's own client on a real socket. */
async function clientOf({ url }: RunningServer, bearer: string, era: 'legacy' | 'modern') {
  const options = era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } as const } : {};
  const client = new Client({ name: 'test', version: '1' }, options);
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return {
    client,
    call: async (name: string, args: JsonObject = {}) =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent as JsonObject,
    async text(name: string, args: JsonObject): Promise<JsonObject> {
      const [first] = (await client.callTool({ name, arguments: { ...args } })).content;
      return JSON.parse(first?.type === 'text' ? first.text : '') as JsonObject;
    },
  };
}

function notesTool(added: JsonObject[]): ToolImplementation {
  return {
    name: 'mcp:notes/add',
    description: 'adds a note',
    input: { type: 'object', properties: { note: { type: 'string' } } },
    run: async (input) => {
      added.push(input);
      return { ok: true, output: 'added' };
    },
  };
}

/** With headers that `fetch` would not send. */
function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = request(url, { method: 'POST', headers: { ...type, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  });
}
