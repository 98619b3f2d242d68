import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EngineProgram } from '@phasegate/core/ports';
import { Channel } from './channel.ts';
import { ENGINE, HOSTS } from './ports.ts';

/** What a sandbox may reach outside of itself. */
export interface Services {
  /** Started for each connection to the engine, with the connection as its standard input and output; absent: none. */
  readonly engine?: EngineProgram;
  /** Hosts, `*.` before a domain for all in it, with a port where it is not 443. */
  readonly hosts: readonly string[];
}

/** Serves the one pipe of a sandbox. Everything but the engine and the named hosts is refused. */
export function serveChannel(pipe: Duplex, services: Services): void {
  const proxy = proxyTo(services.hosts);
  new Channel(pipe, (service, connection) => {
    if (service === ENGINE && services.engine !== undefined) return engineOn(connection, services.engine);
    if (service === HOSTS) return void proxy.emit('connection', connection);
    connection.destroy();
  });
}

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
function proxyTo(hosts: readonly string[]) {
  const server = createServer((_, response) => {
    response.writeHead(405).end('only CONNECT leads out of this sandbox\n');
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const [, host = '', port = ''] = /^\[?([\w.:-]+?)\]?:(\d{1,5})$/.exec(request.url ?? '') ?? [];
    client.on('error', () => undefined);
    if (!isNamed(hosts, host.toLowerCase(), port)) {
      const said = `\`${host}:${port}\` is not among the hosts of this sandbox\n`;
      client.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${said.length}\r\n\r\n${said}`);
      return;
    }
    const there = connect(Number(port), host);
    there.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(there).pipe(client);
    });
    there.once('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
    client.once('close', () => there.destroy());
    there.once('close', () => client.destroy());
  });
  return server;
}

function isNamed(hosts: readonly string[], host: string, port: string): boolean {
  return hosts.some((named) => {
    const [name = '', wanted = '443'] = named.toLowerCase().split(':');
    const isHost = name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
    return isHost && port === wanted;
  });
}
