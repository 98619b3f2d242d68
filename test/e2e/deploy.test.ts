import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { afterAll, describe, expect, test } from 'vitest';
import { freePort } from '../freePort.ts';
import { FULL } from '../tier.ts';
import { makeProject, phasegate, type TestProject } from './cli.ts';
import { serve } from './server.ts';

const DEPLOY = fileURLToPath(new URL('../../docs/deploy/', import.meta.url));
const NAME = 'build.example.com';
const PASSPHRASE = 'open sesame';
const TOKEN = 'a-token-of-enough-letters';
const ERRAND = 'workflow: errand\nphases: { GO: {} }\n';
const started: ChildProcess[] = [];

afterAll(async () => {
  for (const child of started) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  }
});

/** Where a proxy is to listen and to lead, and what it shows. */
interface Place {
  readonly project: TestProject;
  readonly port: number;
  readonly plainPort: number;
  readonly server: string;
  readonly cert: string;
  readonly key: string;
}

describe.runIf(FULL)('the files for proxies', () => {
  test.runIf(installed('nginx', '-v') && installed('openssl', 'version'))(
    'serve Phasegate behind nginx, with TLS and events as they happen',
    async () => {
      const { client } = await behind((place) => {
        const file = place.project.write('site.conf', nginxSite(place));
        const folder = join(place.project.base, 'nginx');
        mkdirSync(folder);
        const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  include ${file};
}
`;
        const path = place.project.write('nginx.conf', main);
        return ['nginx', ['-p', folder, '-c', path]];
      });

      await works(client);
      const evil = await client({ path: '/openapi.json', headers: { host: 'evil.example' } });
      expect(evil.status).toBe(403);
    },
  );

  test.runIf(installed('caddy', 'version') && installed('openssl', 'version'))(
    'serve Phasegate behind Caddy, with TLS and events as they happen',
    async () => {
      const { client } = await behind((place) => {
        const global = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n';
        const path = place.project.write('Caddyfile', `${global}${caddySite(place)}`);
        return ['caddy', ['run', '--adapter', 'caddyfile', '--config', path]];
      });

      await works(client);
    },
  );

  test.runIf(installed('systemd-analyze', '--version'))('the unit is one that systemd takes', () => {
    const text = readFileSync(join(DEPLOY, 'phasegate.service'), 'utf8');
    expect(text).toContain('ExecStart=/usr/local/bin/phasegate serve ');
    const project = makeProject();
    // systemd looks whether the program is there, and here it need not be.
    const unit = project.write(
      'phasegate.service',
      text.replace('/usr/local/bin/phasegate', process.execPath),
    );
    const verify = (file: string) => spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });

    expect(verify(unit)).toMatchObject({ status: 0, stderr: '' });
    const worker = readFileSync(join(DEPLOY, 'phasegate-worker.service'), 'utf8');
    expect(worker).toContain('ExecStart=/usr/local/bin/phasegate worker --url ');
    const started = worker.replace('/usr/local/bin/phasegate', process.execPath);
    expect(verify(project.write('phasegate-worker.service', started))).toMatchObject({
      status: 0,
      stderr: '',
    });
    // With what opens it for sandboxes beside it.
    const more = readFileSync(join(DEPLOY, 'sandbox.conf'), 'utf8');
    const opened = (name: string, lines: string) => {
      project.write(`${name}/phasegate.service.d/sandbox.conf`, lines);
      return project.write(
        `${name}/phasegate.service`,
        text.replace('/usr/local/bin/phasegate', process.execPath),
      );
    };
    expect(verify(opened('open', more))).toMatchObject({ status: 0, stderr: '' });
    const node = readFileSync(join(DEPLOY, 'node.conf'), 'utf8');
    expect(verify(opened('node', node))).toMatchObject({ status: 0, stderr: '' });
    const broken = more.replace('ProtectKernelLogs', 'ProtectKernelLog');
    expect(verify(opened('broken', broken)).stderr).toContain('ProtectKernelLog');
    const misspelt = project.write('wrong.service', text.replace('NoNewPrivileges', 'NoNewPriviledges'));
    expect(verify(misspelt).stderr).toContain('NoNewPriviledges');
    // Out of ten, less is better; a service without hardening has 9.6.
    const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit]);
    expect(judged.status, String(judged.stdout)).toBe(0);
  });
});

test('the Dockerfile has nothing that a linter finds, is marked as not built, and its state is out of the workspace', () => {
  const text = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8');

  expect(validate(text)).toEqual([]);
  expect(validate(text.replace('\nUSER node', '\nUSR node'))).not.toEqual([]);
  expect(text).toMatch(/^# Not built by the tests/);
  expect(text).toContain('ENV XDG_STATE_HOME=/state\n');
  expect(text).toContain('WORKDIR /project\n');
  // The last user is not root.
  expect(text.match(/^USER .*$/gm)).toEqual(['USER node']);
});

function nginxSite({ port, plainPort, server, cert, key }: Place): string {
  return replaced('nginx.conf', [
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['listen 80;', `listen 127.0.0.1:${plainPort};`],
    ['server 127.0.0.1:8000;', `server ${server};`],
    ['/etc/ssl/certs/build.example.com.pem', cert],
    ['/etc/ssl/private/build.example.com.key', key],
  ]);
}

function caddySite({ port, server, cert, key }: Place): string {
  return replaced('Caddyfile', [
    [`${NAME} {`, `${NAME}:${port} {\n\ttls ${cert} ${key}`],
    ['reverse_proxy 127.0.0.1:8000 {', `reverse_proxy ${server} {`],
  ]);
}

/** A file of ours with other places in it, each of which must be there to be replaced. */
function replaced(file: string, places: readonly (readonly [string, string])[]): string {
  let text = readFileSync(join(DEPLOY, file), 'utf8');
  for (const [from, to] of places) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  return text;
}

/** Starts the server and a proxy before it, and gives a client that knows the proxy alone. */
async function behind(proxy: (place: Place) => readonly [string, readonly string[]]) {
  const project = makeProject({ 'agent_workflow.yaml': ERRAND });
  await phasegate(project, ['humans', 'add', 'maria'], { passphrase: PASSPHRASE });
  await phasegate(project, ['trust', 'errand', '--yes'], { passphrase: PASSPHRASE });
  const [port, plainPort] = [await freePort(), await freePort()];
  const token = join(project.base, 'metrics-token');
  writeFileSync(token, `${TOKEN}\n`);
  const server = await serve(project, [
    '--public-url',
    `https://${NAME}:${port}`,
    '--metrics-token-file',
    token,
  ]);
  const { cert, key } = certificateIn(project);
  const place = { project, port, plainPort, server: new URL(server.url).host, cert, key };
  const [program, words] = proxy(place);
  const child = spawn(program, words, { env: project.env, stdio: ['ignore', 'ignore', 'pipe'] });
  started.push(child);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const client = clientOf(port, cert);
  while ((await client({ path: '/healthz' }).catch(() => null)) === null) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { client };
}

function certificateIn({ base }: TestProject) {
  const [cert, key] = [join(base, 'cert.pem'), join(base, 'key.pem')];
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const made = spawnSync('openssl', [...kind, '-days', '1', ...subject, '-keyout', key, '-out', cert]);
  expect(made.status, String(made.stderr)).toBe(0);
  return { cert, key };
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

type Client = ReturnType<typeof clientOf>;

/** A client on another machine: it knows the name, and the proxy's certificate. */
function clientOf(port: number, cert: string) {
  const origin = `https://${NAME}:${port}`;
  const open = ({ path, method = 'GET', headers = {}, body }: Asked): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          servername: NAME,
          ca: readFileSync(cert),
          agent: false,
          path,
          method,
          headers: { host: `${NAME}:${port}`, ...headers },
        },
        resolve,
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const ask = async (asked: Asked) => {
    const response = await open(asked);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  };
  return Object.assign(ask, { open, origin });
}

/** All that is different behind a proxy. */
async function works(client: Client): Promise<void> {
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: unknown, headers = {}) =>
    client({ path, method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });

  for (const path of ['/healthz', '/readyz']) expect((await client({ path })).status).toBe(200);
  expect((await client({ path: '/metrics' })).status).toBe(401);
  const scraped = await client({ path: '/metrics', headers: { authorization: `Bearer ${TOKEN}` } });
  expect([scraped.status, scraped.text.includes('phasegate_runs')]).toEqual([200, true]);
  const document = await client({ path: '/openapi.json', headers: { 'x-forwarded-host': 'evil.example' } });
  expect(JSON.parse(document.text).servers).toEqual([{ url: client.origin }]);

  const form = await client({
    path: '/sign-in',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: client.origin },
    body: new URLSearchParams({ name: 'maria', passphrase: PASSPHRASE }).toString(),
  });
  expect(form.status).toBe(303);
  expect(form.headers['set-cookie']?.[0]).toMatch(/; Secure$/);

  const signedIn = await post('/api/v1/session', { name: 'maria', passphrase: PASSPHRASE, bearer: true });
  const session = { authorization: `Bearer ${JSON.parse(signedIn.text).session}` };
  const stream = await client.open({ path: '/api/v1/events', headers: session });
  expect(stream.statusCode).toBe(200);
  const begun = await post('/api/v1/runs', { workflow: 'errand' }, session);
  expect(begun.status, begun.text).toBe(201);
  const { run } = JSON.parse(begun.text);
  let seen = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    seen += chunk;
    // It came while the answer goes on: nothing kept it back.
    if (seen.includes('event: run_started') && seen.includes(run)) break;
  }

  const { key } = JSON.parse((await post('/api/v1/agents', { name: 'ada' }, session)).text);
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const mcp = await post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello },
    { accept: 'application/json, text/event-stream', authorization: `Bearer ${key}` },
  );
  expect([mcp.status, mcp.text.includes('phasegate')]).toEqual([200, true]);
  const large = await post('/api/v1/runs', { workflow: 'x'.repeat(3 * 1024 * 1024) }, session);
  // Phasegate says so and hangs up; a proxy that is still sending may see only the latter.
  expect([413, 502]).toContain(large.status);
}

function installed(program: string, word: string): boolean {
  return spawnSync(program, [word]).status === 0;
}
