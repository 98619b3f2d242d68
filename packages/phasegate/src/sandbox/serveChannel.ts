import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EngineProgram } from '@phasegate/core/ports';
import { type Address, addressesOf, isHere, isPlace, type Resolve, resolveName } from './addresses.ts';
import { Channel } from './channel.ts';
import { ENGINE, HOSTS } from './ports.ts';

/** What a sandbox may reach outside of itself. */
export interface Services {
  /** Started for each connection to the engine, with the connection as its standard input and output; absent: none. */
  readonly engine?: EngineProgram;
  /** Hosts, `*.` before a domain for all in it, with a port where it is not 443. */
  readonly hosts: readonly string[];
}

/**
 * Serves the one pipe of a sandbox. Everything but the engine and the named hosts is refused.
 *
 * INVARIANT: nothing that comes through it is trusted: a program in the sandbox can speak in the place of the relay.
 */
export function serveChannel(pipe: Duplex, services: Services, resolve: Resolve = resolveName): void {
  const proxy = proxyTo(services.hosts, resolve);
  let engines = 0;
  new Channel(pipe, (service, connection) => {
    if (service === HOSTS) return proxy.emit('connection', connection);
    if (service !== ENGINE || services.engine === undefined || engines >= MOST_ENGINES) return false;
    engines += 1;
    connection.once('close', () => {
      engines -= 1;
    });
    engineOn(connection, services.engine);
    return true;
  });
}

/** A client has one connection to the engine, and perhaps some of its own helpers have; each is a process outside. */
const MOST_ENGINES = 8;

function engineOn(connection: Duplex, { argv, cwd, environment }: EngineProgram): void {
  const [file, ...words] = argv;
  const child = spawn(file, words, { cwd, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
  connection.pipe(child.stdin);
  child.stdout.pipe(connection);
  child.stdin.on('error', () => undefined);
  child.once('error', () => connection.destroy());
  child.once('exit', () => connection.end());
  connection.once('close', () => child.kill());
}

/** A proxy for connections that are encrypted to their end: it sees names, and never what is said. */
function proxyTo(hosts: readonly string[], resolve: Resolve) {
  const server = createServer((_, response) => {
    response.writeHead(405).end('only CONNECT leads out of this sandbox\n');
  });
  server.on('connect', async (request: IncomingMessage, client: Duplex) => {
    const [, asked = '', port = ''] = /^\[?([\w.:-]{1,255}?)\]?:(\d{1,5})$/.exec(request.url ?? '') ?? [];
    const host = asked.toLowerCase();
    const refuse = (said: string) =>
      client.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${said.length}\r\n\r\n${said}`);
    client.on('error', () => undefined);
    const named = hosts.find((one) => isNamed(one, host, port));
    if (named === undefined) return refuse(`\`${host}:${port}\` is not among the hosts of this sandbox\n`);
    const found = await addressesOf(host, resolve);
    // What the author wrote down is meant; what a name leads to is another's to say.
    const addresses = isPlace(nameIn(named)) ? found : found.filter(({ address }) => !isHere(address));
    if (found.length > 0 && addresses.length === 0)
      return refuse(`\`${host}\` leads to this machine or its link, which has to be named by its address\n`);
    if (client.destroyed) return undefined;
    return lead(client, { port: Number(port), host, addresses });
  });
  return server;
}

interface Way {
  readonly host: string;
  readonly port: number;
  /** Those that were looked at: the name is not asked for again. */
  readonly addresses: readonly Address[];
}

function lead(client: Duplex, { host, port, addresses }: Way): void {
  const none = () => client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
  const [first] = addresses;
  if (first === undefined) return void none();
  const there = connect({
    host,
    port,
    lookup: (_, options, done) => {
      if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    },
  });
  there.once('connect', () => {
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    client.pipe(there).pipe(client);
  });
  there.once('error', none);
  client.once('close', () => there.destroy());
  there.once('close', () => client.destroy());
}

function isNamed(written: string, host: string, port: string): boolean {
  const name = nameIn(written);
  const wanted = written.split(':')[1] ?? '443';
  const isHost = name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
  return isHost && port === wanted;
}

function nameIn(written: string): string {
  return (written.split(':')[0] ?? '').toLowerCase();
}
