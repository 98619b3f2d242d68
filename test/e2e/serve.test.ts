import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { FULL } from '../tier.ts';
import { makeProject, PROGRAM, phasegate, startRun, type TestProject } from './cli.ts';
import { serve, signIn } from './server.ts';

const ERRAND = 'workflow: errand\nphases: { GO: { allowed_tools: [read_files] }, RETURN: {} }\n';
// Says that it has begun, and goes on when it is allowed to: a request that is under way for as long as a test wants.
const SLOW = `
workflow: slow
phases:
  GO:
    writes: [begun, go]
    postconditions:
      - check: command
        with: { argv: [node, -e, "const fs=require('fs');fs.writeFileSync('begun','');setInterval(()=>fs.existsSync('go')&&process.exit(0),10)"] }
        message: it must end well
  RETURN: {}
`;

test('the server answers at its address, and its link signs in once', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const server = await serve(project);
  const api = '/api/v1/runs';

  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await server.send('GET', '/readyz')).status).toBe(200);
  expect((await server.send('GET', api)).status).toBe(401);
  const bearer = await signIn(server.signIn);
  expect((await server.send('GET', api, { bearer })).status).toBe(200);
  expect(await signIn(server.signIn)).toBe('undefined');
  expect(server.stderr()).toContain('1 workflow, all valid');
  const file = join(project.stateDir, 'server.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ url: server.url, pid: server.pid });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('what is under way is answered and stored before the server ends; nothing new is taken', async () => {
  const project = makeProject({ 'agent_workflow.yaml': SLOW });
  const server = await serve(project);
  const { run, key, token } = await claimOne(project, server, 'slow');
  const moved = server.send('POST', '/api/v1/tasks/transition', { bearer: token, body: { artifacts: {} } });
  await until(() => existsSync(join(project.root, 'begun')));

  server.kill('SIGTERM');
  await until(async () => (await server.send('GET', '/healthz').catch(() => null)) === null);
  project.write('go', '');

  expect(await moved).toMatchObject({ status: 200, body: { allowed: true, phase: 'RETURN' } });
  expect(await server.ended).toEqual({ code: 0, signal: null });
  expect(
    (await phasegate(project, ['status', run, '--json'], { env: { PHASEGATE_KEY: key } })).json,
  ).toMatchObject({
    status: 'active',
    phase: 'RETURN',
  });
  expect(existsSync(join(project.stateDir, 'server.json'))).toBe(false);
});

test.runIf(FULL)('a second signal ends the server at once, and nothing is half done', async () => {
  const project = makeProject({ 'agent_workflow.yaml': SLOW });
  const server = await serve(project);
  const { run, token } = await claimOne(project, server, 'slow');
  const moved = server
    .send('POST', '/api/v1/tasks/transition', { bearer: token, body: { artifacts: {} } })
    .catch(() => null);
  await until(() => existsSync(join(project.root, 'begun')));

  server.kill('SIGTERM');
  await until(async () => (await server.send('GET', '/healthz').catch(() => null)) === null);
  server.kill('SIGTERM');

  expect(await server.ended).toEqual({ code: 1, signal: null });
  expect(await moved).toBeNull();
  expect((await phasegate(project, ['audit', 'verify'])).code).toBe(0);
  expect((await serve(project)).url).toContain('127.0.0.1');
  expect((await phasegate(project, ['agents', '--json'])).json).toMatchObject({
    agents: [{ name: 'ada', holds: [{ run }] }],
  });
});

test('leases and tokens outlive a restart, and so do those of a server that was killed [S2.92]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const first = await serve(project);
  const { run, token } = await claimOne(project, first, 'errand');
  const read = { bearer: token, body: { tool: 'read_files', input: { path: 'agent_workflow.yaml' } } };
  expect((await first.send('POST', '/api/v1/tools/check', read)).status).toBe(200);

  first.kill('SIGTERM');
  await first.ended;
  const second = await serve(project);
  expect((await second.send('POST', '/api/v1/tools/check', read)).status).toBe(200);
  second.kill('SIGKILL');
  await second.ended;
  expect(existsSync(join(project.stateDir, 'server.json'))).toBe(true);
  const third = await serve(project);

  const moved = await third.send('POST', '/api/v1/tasks/transition', {
    bearer: token,
    body: { artifacts: {}, target: 'RETURN' },
  });
  expect(moved).toMatchObject({ status: 200, body: { allowed: true, task: { id: run } } });
  third.kill('SIGINT');
  expect((await third.ended).code).toBe(0);
  const { records } = await noted(project);
  expect(records.filter((event) => event.startsWith('server_'))).toEqual([
    'server_started',
    'server_stopped',
    'server_started',
    'server_started',
    'server_stopped',
  ]);
});

test('a project has one server', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const server = await serve(project);

  const second = await phasegate(project, ['serve', '--port', '0', '--json']);

  expect(second.code).toBe(1);
  expect(second.json).toMatchObject({
    error: 'server_running',
    message: expect.stringContaining(`${server.url} (process ${server.pid})`),
  });
  expect((await server.send('GET', '/healthz')).status).toBe(200);
});

test('a host that others reach is served with TLS, and not without [C7]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const words = ['serve', '--host', '0.0.0.0', '--port', '0', '--json'];

  expect(await phasegate(project, words)).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('"usage"'),
  });
  expect(existsSync(join(project.stateDir, 'server.json'))).toBe(false);
});

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'with a certificate it speaks TLS [C7 S2.19]',
  async () => {
    const project = makeProject({ 'agent_workflow.yaml': ERRAND });
    const [cert, key] = [join(project.base, 'cert.pem'), join(project.base, 'key.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const made = spawnSync('openssl', [...kind, '-days', '1', ...subject, '-keyout', key, '-out', cert]);
    expect(made.status, String(made.stderr)).toBe(0);

    const server = await serve(project, ['--host', '0.0.0.0', '--tls-cert', cert, '--tls-key', key]);

    expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
    const fetched = spawnSync(
      process.execPath,
      ['-e', `fetch(${JSON.stringify(`${server.url}/healthz`)}).then((r) => console.log(r.status))`],
      { env: { ...project.env, NODE_EXTRA_CA_CERTS: cert }, encoding: 'utf8' },
    );
    expect(fetched.stdout).toBe('200\n');
  },
);

test('an agent with curl and its key finds no operator’s secret and no way to decide [adv.H8]', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const server = await serve(project);
  const { run, key, token } = await claimOne(project, server, 'errand');

  for (const bearer of [key, token]) {
    for (const [method, path] of [
      ['GET', '/api/v1/runs'],
      ['GET', '/api/v1/audit'],
      ['GET', '/api/v1/events'],
      ['POST', `/api/v1/runs/${run}/stop`],
      ['POST', `/api/v1/runs/${run}/resume`],
      ['POST', `/api/v1/runs/${run}/decisions`],
    ] as const) {
      const body =
        method === 'GET' ? {} : { body: { reason: 'because', gate: 'g', option: 'o', shown: 's' } };
      expect((await server.send(method, path, { bearer, ...body })).status, `${method} ${path}`).toBe(403);
    }
  }
});

test.runIf(FULL)(
  'on a terminal the passphrase gets the link; a wrong one does not, and the server goes on',
  async () => {
    const project = makeProject({ 'agent_workflow.yaml': ERRAND });
    await phasegate(project, ['humans', 'add', 'maria'], { passphrase: 'open sesame' });
    const trying = async (passphrase: string, tries = 1) => {
      const terminal = onTerminal(project, ['serve', '--port', '0']);
      for (let asked = 1; asked <= tries; asked += 1) {
        const question = asked === 1 ? 'Passphrase of maria' : `try ${asked} of ${tries}`;
        await until(() => terminal.text().includes(question));
        terminal.type(`${passphrase}\r`);
      }
      await until(() => /sign in(?:,| with)/.test(terminal.text()));
      const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.text()) ?? [];
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      terminal.type('\u0003');
      return { text: terminal.text(), code: await terminal.ended };
    };

    const right = await trying('open sesame');
    const wrong = await trying('open says me', 3);

    expect(right.text).toContain('/sign-in?code=');
    expect(right.text).not.toContain('sesame');
    expect(wrong.text).not.toContain('code=');
    expect(wrong.text).toContain('sign in with your passphrase at');
    expect([right.code, wrong.code]).toEqual([0, 0]);
  },
);

test('a client that is started with a key that is not an agent’s gets no MCP server', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });

  expect(await phasegate(project, ['mcp'], { env: { PHASEGATE_KEY: 'pgk_nobody' } })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('credential_invalid'),
  });
});

test('PHASEGATE_URL is not ignored: a command that cannot use a server says so', async () => {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  const env = { PHASEGATE_URL: 'http://127.0.0.1:1' };

  for (const [command, code] of [
    ['backup', 2],
    ['runs', 1],
  ] as const) {
    expect(await phasegate(project, [command, '--json'], { env })).toMatchObject({
      code,
      stdout: expect.stringContaining('PHASEGATE_URL'),
    });
  }
  expect((await phasegate(project, ['--help'], { env })).code).toBe(0);
});

/** A run that an agent with a key has claimed over the API. */
async function claimOne(
  project: TestProject,
  server: Awaited<ReturnType<typeof serve>>,
  workflow: string,
): Promise<{ run: string; key: string; token: string }> {
  const key = String((await phasegate(project, ['agents', 'add', 'ada', '--json'])).json.key);
  const run = await startRun(project, workflow, ['--queue']);
  const { body } = await server.send('POST', '/api/v1/tasks/claim', {
    bearer: key,
    body: { agent_id: 'ada' },
  });
  expect(body.task).toMatchObject({ id: run });
  return { run, key, token: String(body.phase_token) };
}

/** The events of the project's own chain, as a human may read them. */
async function noted(project: TestProject): Promise<{ readonly records: readonly string[] }> {
  const passphrase = 'open sesame';
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase });
  const { stdout } = await phasegate(project, ['audit', 'export', '--as', 'maria'], { passphrase });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { run: string | null; event: string });
  return { records: lines.filter(({ run }) => run === null).map(({ event }) => event) };
}

/** The command on a terminal of its own. */
function onTerminal(project: TestProject, words: readonly string[]) {
  const terminal = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: project.root,
    env: { ...project.env, TERM: 'xterm' },
    cols: 200,
    rows: 50,
  });
  let text = '';
  terminal.onData((chunk) => {
    text += chunk;
  });
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  return { ended, text: () => stripVTControlCharacters(text), type: (keys: string) => terminal.write(keys) };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}
