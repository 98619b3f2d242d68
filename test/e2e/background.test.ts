import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { hookSocketFor, pidFileOf } from '../../packages/phasegate/src/settings/hookSocket.ts';
import { freePort } from '../freePort.ts';
import { FULL, someOf } from '../tier.ts';
import { asProcess, makeProject, phasegate, type TestProject } from './cli.ts';

const ERRAND = { 'errand.workflow.yaml': 'workflow: errand\nphases: { GO: {} }\n' };
const left: Up[] = [];

afterAll(() => {
  for (const { pid, socket } of left) {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    for (const file of [socket, pidFileOf(socket)]) rmSync(file, { force: true });
  }
});

test.runIf(FULL)(
  'two who start the server at once find the same one, hooks reach it by its socket alone, and `down` ends it',
  async () => {
    const project = makeProject({ ...ERRAND, 'phasegate.config.json': `{ "port": ${await freePort()} }` });

    const both = await Promise.all([up(project), up(project)]);

    const [first, second] = both;
    expect(first?.pid).toBe(second?.pid);
    expect(both.filter(({ started }) => started)).toHaveLength(1);
    expect(first?.socket).toBe(hookSocketFor(project.stateDir));
    expect(await ask(first?.socket, '/healthz')).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    // What needs a credential elsewhere is not there at all.
    expect(await ask(first?.socket, '/api/v1/runs')).toMatchObject({ status: 404 });
    expect(await ask(first?.socket, '/mcp')).toMatchObject({ status: 404 });
    const doctor = await asProcess(project, ['doctor']);
    expect(doctor.stdout).toContain(`${first?.url} (process ${first?.pid}, ends after 1 h without use)`);
    const run = await phasegate(project, ['start', 'errand', '--json']);
    expect((await asProcess(project, ['status', String(run.json.run)])).stdout).toContain(
      `server ${first?.url}`,
    );

    expect((await asProcess(project, ['down'])).stdout).toContain(`ended  ${first?.url}`);
    await endOf(Number(first?.pid));
    expect(existsSync(pidFileOf(String(first?.socket)))).toBe(false);
    expect((await asProcess(project, ['down'])).stdout).toContain('no server is running');
  },
);

test.runIf(FULL)(
  'after a kill, what took the port is not taken for the server: another is started elsewhere',
  async () => {
    const port = await freePort();
    const project = makeProject({ ...ERRAND, 'phasegate.config.json': `{ "port": ${port} }` });
    const killed = await up(project);
    process.kill(killed.pid, 'SIGKILL');
    const impostor = createServer((_, response) => response.end('{}'));
    onTestFinished(() => void impostor.close());
    await listenAgain(impostor, port);
    // The number of a process is used again, here by this one.
    const file = join(project.stateDir, 'server.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"pid":${killed.pid}`, `"pid":${process.pid}`));

    const doctor = await asProcess(project, ['doctor']);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain('is not the server of this project: it does not have its key');
    const next = await up(project);

    expect(next).toMatchObject({ started: true });
    expect(next.url).not.toBe(killed.url);
    expect(await ask(next.socket, '/healthz')).toMatchObject({ status: 200 });
  },
);

const LOST: readonly (readonly [string, (socket: string) => string])[] = [
  ['its socket', (socket) => socket],
  ['the file beside its socket', pidFileOf],
];

test.each(someOf(LOST, { quick: 1, full: LOST.length }))(
  'without %s no hook finds it, and the next `up` has it opened again',
  async (_, lost) => {
    const project = makeProject(ERRAND);
    const first = await up(project);
    rmSync(lost(first.socket));

    const second = await up(project);

    expect(second).toMatchObject({ pid: first.pid, started: false });
    expect(readFileSync(pidFileOf(first.socket), 'utf8')).toBe(`${first.pid}\n`);
    expect(await ask(first.socket, '/healthz')).toMatchObject({ status: 200 });
    expect((await asProcess(project, ['down'])).code).toBe(0);
    expect([first.socket, pidFileOf(first.socket)].filter((file) => existsSync(file))).toEqual([]);
  },
);

test.runIf(FULL)(
  'it ends by itself when nothing has used it, and where a human is set up only they end it before',
  async () => {
    const project = makeProject(ERRAND);
    const passphrase = 'a passphrase of many words';
    await phasegate(project, ['humans', 'add', 'maria'], { newPassphrase: passphrase });
    const { pid } = await up(project);

    const refused = await asProcess(project, ['down']);
    expect(refused.code).toBe(2);
    expect(isAlive(pid)).toBe(true);
    const ended = await asProcess(project, ['down'], { passphrase });
    expect(ended.code).toBe(0);
    const short = await up(project, ['--idle', '1s']);
    await endOf(short.pid);

    expect(existsSync(join(project.stateDir, 'server.json'))).toBe(false);
    const { stdout } = await phasegate(project, ['audit', 'export', '--as', 'maria'], { passphrase });
    expect(stdout.match(/"server_stopped"/g)).toHaveLength(2);
  },
);

interface Up {
  readonly url: string;
  readonly pid: number;
  readonly socket: string;
  readonly started: boolean;
}

async function up(project: TestProject, words: readonly string[] = []): Promise<Up> {
  const { code, stderr, stdout } = await asProcess(project, ['up', '--json', ...words]);
  expect(code, stderr).toBe(0);
  const found = JSON.parse(stdout) as Up;
  left.push(found);
  return found;
}

function ask(socketPath: string | undefined, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, headers: { host: 'localhost' } }, async (response) => {
      let body = '';
      for await (const chunk of response) body += String(chunk);
      resolve({ status: response.statusCode ?? 0, body });
    });
    asked.on('error', reject).end();
  });
}

/** The port is free as soon as the system has noticed the end of the one that had it. */
async function listenAgain(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  for (;;) {
    server.listen(port, '127.0.0.1');
    const free = await once(server, 'listening').catch(() => null);
    if (free !== null) return;
  }
}

async function endOf(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
