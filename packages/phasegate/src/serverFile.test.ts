import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHALLENGE_HEADER, findServer, lookAtServer, PROOF_HEADER, takeServerPlace } from './serverFile.ts';

test('one server has the place; another is told where it is, and gets it when that one has left', async () => {
  const stateDir = folder();
  const place = await takeServerPlace(stateDir);
  place.announce({ url: 'http://127.0.0.1:1', pid: 42, started_at: 'now' });

  await expect(takeServerPlace(stateDir)).rejects.toMatchObject({
    code: 'server_running',
    message: expect.stringContaining('http://127.0.0.1:1 (process 42)'),
  });
  place.leave();
  (await takeServerPlace(stateDir)).leave();
});

test('of many who want the place at once, one gets it', async () => {
  const stateDir = folder();

  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => takeServerPlace(stateDir)));

  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('the place of a server that was killed is free, whatever it left behind', async () => {
  const stateDir = folder();
  const module = new URL('./serverFile.ts', import.meta.url).href;
  const script = `const { takeServerPlace } = await import(${JSON.stringify(module)});
    const place = await takeServerPlace(${JSON.stringify(stateDir)});
    place.announce({ url: 'http://127.0.0.1:1', pid: process.pid, started_at: 'now' });
    console.log('taken'); setInterval(() => {}, 1000)`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(takeServerPlace(stateDir)).rejects.toMatchObject({ code: 'server_running' });

  child.kill('SIGKILL');
  await once(child, 'exit');

  (await takeServerPlace(stateDir)).leave();
});

test('a server is found when it shows its key, and its file is for this user only', async () => {
  const stateDir = folder();
  const place = await takeServerPlace(stateDir);
  const url = await listening((challenge) => place.proofOf(challenge));
  expect(await findServer(stateDir)).toBeNull();

  place.announce({ url, pid: process.pid, started_at: 'now', socket: '/run/hooks.sock', idle_ms: 5 });

  const entry = { url, pid: process.pid, started_at: 'now', socket: '/run/hooks.sock', idle_ms: 5 };
  expect(await findServer(stateDir)).toEqual(entry);
  expect(await lookAtServer(stateDir)).toEqual({ state: 'running', entry });
  expect(statSync(join(stateDir, 'server.json')).mode & 0o777).toBe(0o600);
  place.leave();
  expect(await findServer(stateDir)).toBeNull();
  expect(await lookAtServer(stateDir)).toEqual({ state: 'none' });
});

test.each([
  ['nothing', () => null],
  ['what it was asked', (challenge: string) => challenge],
  ['the proof of another server', null],
])('what answers on the port of the server with %s is not the server', async (_name, answer) => {
  const stateDir = folder();
  const place = await takeServerPlace(stateDir);
  onTestFinished(() => place.leave());
  const other = await takeServerPlace(folder());
  onTestFinished(() => other.leave());
  const url = await listening(answer ?? ((challenge) => other.proofOf(challenge)));
  other.announce({ url, pid: process.pid, started_at: 'now' });

  place.announce({ url, pid: process.pid, started_at: 'now' });

  expect(await findServer(stateDir)).toBeNull();
  expect((await lookAtServer(stateDir)).state).toBe('impostor');
});

test.each([
  ['a process that is gone', JSON.stringify({ url: 'http://127.0.0.1:1', pid: 2 ** 22 + 1, started_at: '' })],
  [
    'a port nobody listens on',
    JSON.stringify({ url: 'http://127.0.0.1:1', pid: process.pid, started_at: '' }),
  ],
  ['no JSON', '{"url":'],
  ['other things', '[]'],
])('a file that names %s names no server', async (_name, text) => {
  const stateDir = folder();
  writeFileSync(join(stateDir, 'server.json'), text);

  expect(await findServer(stateDir)).toBeNull();
});

/** Something on a port that answers every challenge so. */
async function listening(answer: (challenge: string) => string | null): Promise<string> {
  const http = createServer(({ headers }, response) => {
    const proof = answer(String(headers[CHALLENGE_HEADER]));
    if (proof !== null) response.setHeader(PROOF_HEADER, proof);
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function folder(): string {
  const made = mkdtempSync(join(realpathSync(tmpdir()), 'phasegate-server-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test.skipIf(spawnSync('openssl', ['version']).status !== 0)(
  'a server that speaks TLS is the one with its certificate, whatever answers under its name',
  async () => {
    const stateDir = folder();
    const [own, foreign] = [certificateIn(stateDir, 'own'), certificateIn(stateDir, 'foreign')];
    const place = await takeServerPlace(stateDir);
    onTestFinished(() => place.leave());
    const server = createTlsServer(foreign, ({ headers }, response) =>
      response.setHeader(PROOF_HEADER, place.proofOf(String(headers[CHALLENGE_HEADER]))).end(),
    );
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    const announced = { url, pid: process.pid, started_at: 'now' };

    place.announce({ ...announced, certificate: new X509Certificate(own.cert).fingerprint256 });
    expect(await findServer(stateDir)).toBeNull();

    const certificate = new X509Certificate(foreign.cert).fingerprint256;
    place.announce({ ...announced, certificate });
    expect(await findServer(stateDir)).toEqual({ ...announced, certificate });
  },
);

function certificateIn(folder: string, name: string): { readonly cert: Buffer; readonly key: Buffer } {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const made = spawnSync('openssl', [...kind, '-days', '1', ...subject, '-keyout', key, '-out', cert]);
  expect(made.status, String(made.stderr)).toBe(0);
  return { cert: readFileSync(cert), key: readFileSync(key) };
}
