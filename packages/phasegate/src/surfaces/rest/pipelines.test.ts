import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { hotAt, opened, post, said, serving } from './fixtures/rawHttp.ts';

test('requests that a client sends ahead begin one after the other, and are answered in their order [adv.O1]', async () => {
  let [now, most] = [0, 0];
  const work = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
  };
  const fetch = async (request: Request) => {
    await work();
    return new Response(`app: ${await request.text()}`);
  };
  const server = await serving({ fetch }, { hot: () => hotAt('/fast', work) });
  const asked = Array.from({ length: 3000 }, (_, n) => (n % 2 === 0 ? `hot: ${n}` : `app: ${n}`));
  const sent = asked.map((one) => post(one.startsWith('hot') ? '/fast' : '/slow', one.slice(5))).join('');

  const { closed } = await opened(
    server,
    `${sent}GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );

  const answers = [...(await closed).matchAll(/(?:hot|app): \d+/g)].map(([answer]) => answer);
  expect(answers).toEqual(asked);
  expect(most).toBe(1);
});

test.each([
  ['a few wait', 5, false],
  ['many wait', 50, true],
])('whether more is read of a connection on which %s [adv.O1]', async (_name, count, isPaused) => {
  const [begun, finish] = [Promise.withResolvers<Socket>(), Promise.withResolvers<void>()];
  const server = await serving({
    async fetch(request, { incoming }) {
      begun.resolve(incoming.socket);
      await finish.promise;
      return new Response(`app: ${await request.text()};`);
    },
  });
  const { socket } = await opened(server, post('/', 'x').repeat(count));
  const heard = said(socket);

  const there = await begun.promise;
  // The others of the same piece are handed over after the first one began.
  await new Promise((resolve) => setImmediate(resolve));
  expect(there.isPaused()).toBe(isPaused);
  finish.resolve();

  socket.write(post('/', 'last'));
  await heard('app: last;');
  expect(there.isPaused()).toBe(false);
});

test('a request whose client hung up before its turn is not begun [adv.O1]', async () => {
  const [begun, finish] = [Promise.withResolvers<Socket>(), Promise.withResolvers<void>()];
  const asked: string[] = [];
  const server = await serving({
    async fetch(request, { incoming }) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (pathname !== '/held') return new Response('app: at once');
      begun.resolve(incoming.socket);
      await finish.promise;
      return new Response();
    },
  });
  const { socket } = await opened(server, post('/held', 'x') + post('/next', 'x').repeat(3));
  const there = await begun.promise;

  const closed = new Promise((resolve) => there.once('close', resolve));
  socket.destroy();
  await closed;
  finish.resolve();

  const other = await opened(server, post('/other', 'x'));
  await said(other.socket)('app: at once');
  expect(asked).toEqual(['/held', '/other']);
});

test('connections on which too many requests wait are closed, and others may still send a few ahead [adv.O1]', async () => {
  const server = await serving(
    {
      fetch: (request) =>
        request.url.endsWith('/held') ? new Promise<Response>(() => {}) : new Response('app: at once'),
    },
    { limits: { graceMs: 10 } },
  );
  const many = 'GET /held HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1500);
  const flood = await Promise.all(Array.from({ length: 12 }, () => opened(server, many)));

  expect(await Promise.race(flood.map(({ closed }) => closed))).toBe('');
  const few = await opened(server, `${post('/', 'x')}GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect((await few.closed).split('app: at once')).toHaveLength(3);
});
