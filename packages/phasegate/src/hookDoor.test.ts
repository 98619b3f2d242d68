import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openHookDoor } from './hookDoor.ts';
import { isServedBy, pidFileOf } from './settings/hookSocket.ts';

async function opened() {
  const stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'phasegate-door-')));
  const said: string[] = [];
  const door = await openHookDoor(
    stateDir,
    { fetch: () => new Response('{"status":"ok"}'), endStreams: () => undefined },
    { hot: () => ({ take: () => false }), log: (line) => void said.push(line) },
  );
  onTestFinished(() => door.close());
  if (door.socket === null) throw new Error(said.join('\n'));
  return { door, socket: door.socket, said };
}

function statusAt(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/healthz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject).end();
  });
}

test.each<[string, (socket: string) => unknown]>([
  ['its socket was removed', (socket) => rmSync(socket)],
  ['the number beside its socket was removed', (socket) => rmSync(pidFileOf(socket))],
  [
    'another took its place and removed it when it ended',
    async (socket) => {
      rmSync(socket);
      const other = createServer();
      await new Promise<void>((listening) => void other.listen(socket, listening));
      await new Promise<void>((closed) => void other.close(() => closed()));
    },
  ],
])('where %s, it is opened again, once, for all who ask', async (_, lose) => {
  const { door, socket, said } = await opened();
  await lose(socket);
  expect(isServedBy(socket, process.pid)).toBe(false);

  door.keep();
  door.keep();

  await vi.waitFor(() => expect(isServedBy(socket, process.pid)).toBe(true));
  expect(await statusAt(socket)).toBe(200);
  expect(said).toEqual([]);
});

test('one that was not lost stays as it is, and one that was closed stays closed', async () => {
  const { door, socket } = await opened();

  door.keep();

  expect(readFileSync(pidFileOf(socket), 'utf8')).toBe(`${process.pid}\n`);
  expect(await statusAt(socket)).toBe(200);
  rmSync(socket);
  door.keep();
  await door.close();
  door.keep();
  expect([socket, pidFileOf(socket)].filter((file) => existsSync(file))).toEqual([]);
});
