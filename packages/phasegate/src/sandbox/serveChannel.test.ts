import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { duplexPair } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { Address } from './addresses.ts';
import { Channel } from './channel.ts';
import { ENGINE, HOSTS } from './ports.ts';
import { serveChannel } from './serveChannel.ts';

async function answering(): Promise<number> {
  const server = createServer((socket) => socket.end('reached'));
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { readonly port: number }).port;
}

/** What the proxy says to a wish for `host`, where every name leads to these addresses. */
async function asked(hosts: readonly string[], host: string, addresses: readonly string[]): Promise<string> {
  const [inside, outside] = duplexPair();
  const found: readonly Address[] = addresses.map((address) => ({
    address,
    family: address.includes(':') ? 6 : 4,
  }));
  serveChannel(outside, { hosts }, async () => found);
  const connection = new Channel(inside).open(HOSTS);
  connection.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const said = Buffer.concat(await connection.toArray()).toString();
  return said;
}

const OWN = Object.values(networkInterfaces())
  .flat()
  .flatMap((one) => (one === undefined || one.internal || one.family !== 'IPv4' ? [] : [one.address]));

test.each([
  ['loopback', '127.0.0.1'],
  ['all of loopback', '127.8.9.1'],
  ['no address', '0.0.0.0'],
  ['the link', '169.254.169.254'],
  ['loopback of IPv6', '::1'],
  ['loopback in a form of IPv6', '::ffff:127.0.0.1'],
  ['the link of IPv6', 'fe80::1'],
  ...OWN.map((address) => ['an own address', address]),
])('a name that leads here is refused: %s', async (_, address) => {
  const port = await answering();

  const said = await asked([`*.example.org:${port}`], `evil.example.org:${port}`, [address as string]);

  expect(said).toMatch(/^HTTP\/1\.1 403 /);
  expect(said).toContain('leads to this machine or its link');
  expect(said).not.toContain('reached');
});

test('what an author names by its address, or as localhost, is meant', async () => {
  const port = await answering();

  expect(await asked([`127.0.0.1:${port}`], `127.0.0.1:${port}`, [])).toContain('reached');
  expect(await asked([`localhost:${port}`], `localhost:${port}`, ['127.0.0.1'])).toContain('reached');
  expect(await asked([`*.org:${port}`], `localhost:${port}`, ['127.0.0.1'])).toMatch(/ 403 /);
});

test('a host is asked for once, and led to where that said', async () => {
  const port = await answering();
  const [inside, outside] = duplexPair();
  let times = 0;
  serveChannel(outside, { hosts: [`localhost:${port}`] }, async () => {
    times += 1;
    return [{ address: times === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }];
  });
  const connection = new Channel(inside).open(HOSTS);
  connection.write(`CONNECT localhost:${port} HTTP/1.1\r\n\r\n`);

  expect(Buffer.concat(await connection.toArray()).toString()).toContain('reached');
  expect(times).toBe(1);
});

test('a name without an address is told so', async () => {
  expect(await asked(['nowhere.example'], 'nowhere.example:443', [])).toMatch(/^HTTP\/1\.1 502 /);
});

test('a sandbox has a few connections to the engine, each a process outside, and others again when these end', async () => {
  const [inside, outside] = duplexPair();
  const engine = {
    argv: [process.execPath, '-e', 'process.stdin.pipe(process.stdout)'] as const,
    cwd: '/',
    environment: {},
  };
  serveChannel(outside, { engine, hosts: [] });
  const channel = new Channel(inside);
  const all = Array.from({ length: 24 }, () => channel.open(ENGINE));
  const refused = all.slice(8).map((connection) => once(connection.resume(), 'close'));
  await Promise.all(refused);

  for (const connection of all.slice(0, 8)) connection.write('x');
  const heard = await Promise.all(all.slice(0, 8).map((connection) => once(connection, 'data')));
  expect(heard.map(String)).toEqual(Array.from({ length: 8 }, () => 'x'));

  const [first] = all;
  first?.destroy();
  const again = channel.open(ENGINE);
  again.write('y');
  expect(String(await once(again, 'data'))).toBe('y');
  outside.destroy();
});
