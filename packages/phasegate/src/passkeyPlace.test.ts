import { createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type BoundServer, openPasskeyPlace } from './passkeyPlace.ts';
import { serveHttp } from './surfaces/rest/httpServer.ts';

const APP = { fetch: () => new Response('ours'), endStreams: () => undefined };

test('`localhost` is for passkeys where both of its addresses are ours', async () => {
  const { bound } = await onLoopback();
  const { place, listener } = await openPasskeyPlace(bound);
  if (listener !== null) onTestFinished(() => listener.close());

  expect(place).toEqual({ origin: `http://localhost:${bound.port}` });
  // Nobody else can listen there any more; where there is no such address, nobody could before.
  const taken = await listening(bound.port, '::1').catch((error: { readonly code: string }) => error.code);
  expect(['EADDRINUSE', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']).toContain(taken);
});

test('where something else has the other address, there are no passkeys, also if the operator named it so [adv.P1]', async () => {
  const { bound } = await onLoopback();
  const hostile = await listening(bound.port, '::1').catch(() => null);
  if (hostile === null) return;
  const none = { origin: null, problem: expect.stringMatching(/another program listens/) };

  expect((await openPasskeyPlace(bound)).place).toEqual(none);
  const named = { ...bound, named: true, origin: `http://localhost:${bound.port}` };
  expect((await openPasskeyPlace(named)).place).toEqual(none);
});

test.each<[string, Partial<BoundServer>, string | null]>([
  ['a name of the operator', { origin: 'https://gates.example', named: true }, 'https://gates.example'],
  ['the end of a tunnel', { origin: 'http://localhost:9', named: true }, 'http://localhost:9'],
  [
    'the name of its certificate',
    { origin: 'https://build.lan:8443', host: '0.0.0.0' },
    'https://build.lan:8443',
  ],
  ['an address in numbers', { origin: 'https://10.0.0.5', named: true }, null],
  ['an address in numbers that is bound', { origin: 'https://10.0.0.5:8000', host: '10.0.0.5' }, null],
])('%s', async (_name, said, origin) => {
  const also = () => Promise.reject(new Error('not asked for'));
  const bound = { origin: '', named: false, host: '127.0.0.1', port: 8000, tls: false, also, ...said };

  expect((await openPasskeyPlace(bound)).place).toMatchObject({ origin });
});

async function onLoopback(): Promise<{ readonly bound: BoundServer }> {
  const http = await serveHttp({ app: APP, host: '127.0.0.1', port: 0 });
  onTestFinished(() => http.close());
  const { port } = http;
  const also = (host: string) => serveHttp({ app: APP, host, port });
  return {
    bound: { origin: `http://127.0.0.1:${port}`, named: false, host: '127.0.0.1', port, tls: false, also },
  };
}

function listening(port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      onTestFinished(() => void server.close());
      resolve(server);
    });
  });
}
