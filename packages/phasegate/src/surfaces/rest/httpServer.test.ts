import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FULL } from '../../../../../test/tier.ts';
import { hotAt, opened, post, said, serving } from './fixtures/rawHttp.ts';

test('answers what the app answers', async () => {
  const server = await serving({
    fetch: async (request) => new Response(`you asked for ${new URL(request.url).pathname}`),
  });

  const response = await fetch(`http://127.0.0.1:${server.port}/x`);

  expect(await response.text()).toBe('you asked for /x');
});

test('hot routes are asked first, and what they leave goes to the app, on one connection', async () => {
  const server = await serving(
    { fetch: async (request) => new Response(`app: ${await request.text()}`) },
    { hot: () => hotAt('/fast') },
  );
  const { socket } = await opened(server, post('/fast', 'a'));
  const heard = said(socket);

  await heard('hot: a');
  socket.write(post('/slow', 'b'));
  await heard('app: b');
  socket.write(post('/fast', 'c'));
  await heard('hot: c');
});

test('closing answers who waits for a hot route, and closes the connection of who does not', async () => {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const server = await serving(
    { fetch: async () => new Response() },
    {
      hot: () =>
        hotAt('/fast', async () => {
          begun.resolve();
          await finish.promise;
        }),
    },
  );
  const waits = await opened(server, post('/fast', 'x'));
  const idle = await opened(server, '');
  await begun.promise;

  const closed = server.close();
  expect(await idle.closed).toBe('');
  finish.resolve();

  expect(await waits.closed).toMatch(/connection: close[\s\S]*hot: x$/i);
  await closed;
});

test('a client of a hot route that never ends its request, or says nothing, is disconnected', async () => {
  const limits = { headersMs: 100, requestMs: 200 };
  const server = await serving({ fetch: async () => new Response() }, { limits, hot: () => hotAt('/fast') });

  const half = await opened(server, post('/fast', 'x').slice(0, -1));
  const silent = await opened(server, '');

  expect(await half.closed).toContain('408');
  expect(await silent.closed).toContain('408');
});

test.each([
  ['with hot routes', { hot: () => hotAt('/fast') }],
  ['without', {}],
])('connections that ask for nothing make room for who comes, %s', async (_name, options) => {
  const finish = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const fetch = async (request: Request) => {
    if (new URL(request.url).pathname !== '/held') return new Response('app: at once');
    begun.resolve();
    await finish.promise;
    return new Response('app: held');
  };
  const server = await serving({ fetch }, { ...options, limits: { maxConnections: 3 } });
  const works = await opened(server, post('/held', 'x'));
  await begun.promise;
  const [silent, idle] = [await opened(server, ''), await opened(server, post('/slow', 'x'))];
  await said(idle.socket)('app: at once');

  const late = await opened(server, post('/slow', 'x'));

  await said(late.socket)('app: at once');
  expect(await silent.closed).toBe('');
  await opened(server, post('/slow', 'x'));
  expect(await idle.closed).toContain('app: at once');
  const answered = said(works.socket)('app: held');
  finish.resolve();
  await answered;
});

test.runIf(FULL)('requests that never become whole make room for who comes', async () => {
  const fetch = async (request: Request) => new Response(await request.text());
  const server = await serving({ fetch }, { limits: { maxConnections: 3 } });
  const half = await Promise.all([1, 2, 3].map(() => opened(server, post('/slow', 'x').slice(0, -1))));

  const late = await opened(server, post('/slow', 'late'));

  await said(late.socket)('late');
  expect(await Promise.race(half.map(({ closed }) => closed))).toBe('');
});

test('speaks TLS with the certificate it is given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'phasegate-tls-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes', '-keyout', key, '-out', cert];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...subject],
    {
      stdio: 'ignore',
    },
  );
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
  const server = await serving({ fetch: async (request) => new Response(request.url) }, { tls });

  const text = await new Promise<string>((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: server.port,
      ca: tls.cert,
      servername: 'localhost',
      path: '/x',
    };
    get({ ...options, headers: { host: 'localhost' }, agent: false }, (response) => {
      response.setEncoding('utf8').once('data', resolve);
    }).once('error', reject);
  });

  expect(text).toBe('https://localhost/x');
});

test('a port in use is said with a way out', async () => {
  const first = await serving({ fetch: async () => new Response() });

  await expect(serving({ fetch: async () => new Response() }, { port: first.port })).rejects.toMatchObject({
    code: 'usage',
    message: `port ${first.port} on \`127.0.0.1\` is in use`,
    hint: expect.stringContaining('--port'),
  });
});

test('an address of another machine is said with a way out', async () => {
  const elsewhere = { host: '192.0.2.1', port: 8000 };

  await expect(serving({ fetch: async () => new Response() }, elsewhere)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('it is not an address of this machine'),
    hint: expect.stringContaining('--host'),
  });
});

test.each([
  ['its headers', { headersMs: 200, requestMs: 60_000 }, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
  [
    'its body',
    { headersMs: 100, requestMs: 200 },
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx',
  ],
])('a client that never ends %s is disconnected while others are served', async (_name, limits, begun) => {
  const server = await serving({ fetch: async (request) => new Response(await request.text()) }, { limits });
  const slow = await opened(server, begun);

  const served = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: 'y' });

  expect(await served.text()).toBe('y');
  expect(await slow.closed).toContain('408');
});

test('headers of unreasonable size are refused', async () => {
  const server = await serving({ fetch: async () => new Response() });
  const huge = await opened(
    server,
    `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Huge: ${'x'.repeat(20_000)}\r\n\r\n`,
  );

  expect(await huge.closed).toContain('431');
});

test('more headers than anybody sends are refused before they are read [adv.O4]', async () => {
  let asked = 0;
  const server = await serving({
    fetch: async () => {
      asked += 1;
      return new Response();
    },
  });
  const lines = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: y\r\n`).join('');
  const many = await opened(server, `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines(250)}\r\n`);
  const few = await opened(
    server,
    `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines(150)}\r\n`,
  );

  expect(await many.closed).toContain('431');
  expect(await few.closed).toContain('200');
  expect(asked).toBe(1);
});

test('what cannot become a request is answered as a problem', async () => {
  const server = await serving({ fetch: async () => new Response() });
  const broken = await opened(server, 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');

  const answer = await broken.closed;

  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(answer).toContain('"error":"request_invalid"');
});

test('closing lets a request under way finish, takes no more, and ends streams', async () => {
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const streaming = Promise.withResolvers<void>();
  let end = () => {};
  const server = await serving({
    async fetch(request) {
      if (request.url.endsWith('/stream')) {
        const stream = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('first '));
            end = () => controller.close();
          },
        });
        streaming.resolve();
        return new Response(stream);
      }
      begun.resolve();
      await finish.promise;
      return new Response('finished');
    },
    endStreams: () => end(),
  });
  const slow = fetch(`http://127.0.0.1:${server.port}/slow`);
  const stream = fetch(`http://127.0.0.1:${server.port}/stream`);
  await Promise.all([begun.promise, streaming.promise]);

  const closed = server.close();
  const late = await fetch(`http://127.0.0.1:${server.port}/late`).catch(() => 'refused');
  expect(await (await stream).text()).toBe('first ');
  finish.resolve();

  expect(await (await slow).text()).toBe('finished');
  expect((await slow).headers.get('connection')).toBe('close');
  expect(late).toBe('refused');
  await closed;
});

test('closing ends a stream of events that nobody here would end, and waits for no patience', async () => {
  const server = await serving(
    {
      fetch: () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
          }),
          { headers: { 'content-type': 'text/event-stream' } },
        ),
    },
    { limits: { graceMs: 3_600_000 } },
  );
  const stream = await fetch(`http://127.0.0.1:${server.port}/mcp`, {
    headers: { accept: 'text/event-stream' },
  });

  await server.close();

  expect(await stream.text()).toBe('data: 1\n\n');
});

test('closing does not wait for ever', async () => {
  const begun = Promise.withResolvers<void>();
  const server = await serving(
    {
      fetch() {
        begun.resolve();
        return new Promise<Response>(() => {});
      },
    },
    { limits: { graceMs: 50 } },
  );
  const never = fetch(`http://127.0.0.1:${server.port}/`).catch(() => 'cut');
  await begun.promise;

  await server.close();

  expect(await never).toBe('cut');
});
