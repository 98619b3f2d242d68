import { chmodSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askRunningServer } from './askRunningServer.ts';
import { CHALLENGE_HEADER, PROOF_HEADER, takeServerPlace } from './serverFile.ts';
import { hookSocketFor, makeSocketFolder, pidFileOf } from './settings/hookSocket.ts';

/** A server that shows the key of its place, and answers hooks at its socket. */
async function serving(answer: { status?: number; body?: string } = {}) {
  const stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-asked-')));
  const place = await takeServerPlace(stateDir);
  const asked: string[] = [];
  const http = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.setHeader(PROOF_HEADER, place.proofOf(String(request.headers[CHALLENGE_HEADER])));
      response.end();
      return;
    }
    request.on('data', (part) => asked.push(`${request.url} ${request.headers['x-phasegate-run']} ${part}`));
    request.on('end', () =>
      response.writeHead(answer.status ?? 200).end(answer.body ?? '{"decision":"block"}'),
    );
  });
  const socket = hookSocketFor(stateDir);
  makeSocketFolder(socket);
  const door = createServer(http.listeners('request')[0] as never).listen(socket);
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  place.announce({ url, pid: process.pid, started_at: 'now', socket });
  writeFileSync(pidFileOf(socket), `${process.pid}\n`);
  onTestFinished(() => {
    place.leave();
    http.close();
    door.close();
  });
  return { stateDir, socket, place, asked };
}

const EVENT = { client: 'claude', body: '{"x":1}', run: 'run-1' } as const;

test('an event is put to the server that shows the project’s key, at its own socket', async () => {
  const { stateDir, asked } = await serving();
  expect(await askRunningServer(stateDir, EVENT)).toEqual({ decision: 'block' });
  expect(asked).toEqual(['/api/v1/hooks/claude run-1 {"x":1}']);
});

test.each<[string, (server: Awaited<ReturnType<typeof serving>>) => void]>([
  ['has left', ({ place }) => place.leave()],
  ['is not the one at the socket', ({ socket }) => writeFileSync(pidFileOf(socket), '1\n')],
  ['has a socket that others can reach', ({ socket }) => chmodSync(dirname(socket), 0o755)],
])('a server that %s is not asked', async (_, spoil) => {
  const server = await serving();
  spoil(server);
  expect(await askRunningServer(server.stateDir, EVENT)).toBe(null);
  expect(server.asked).toEqual([]);
});

test.each([
  ['another status', { status: 500 }],
  ['no JSON object', { body: '[]' }],
  ['half an answer', { body: '{"decision":' }],
])('%s is no answer of the server', async (_, answer) => {
  const { stateDir } = await serving(answer);
  expect(await askRunningServer(stateDir, EVENT)).toBe(null);
});
