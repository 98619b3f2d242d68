// Runs inside a sandbox. `relay.js DESCRIPTOR -- PROGRAM [WORD…]` listens on two ports of the sandbox's own loopback,
// leads what connects there through the pipe on DESCRIPTOR to the one who made the sandbox, and runs the program.
// `relay.js connect` leads its own standard input and output to the first of the ports: an MCP server, to a client.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { connect, createServer, Socket } from 'node:net';
import { constants } from 'node:os';
import { Channel } from './channel.ts';
import { ENGINE, PORTS } from './ports.ts';

const [, , first = '', , ...words] = process.argv;

if (first === 'connect') {
  const socket = connect(PORTS[ENGINE] ?? 0, '127.0.0.1');
  socket.on('error', (error) => {
    process.stderr.write(`phasegate does not answer: ${error.message}\n`);
    process.exit(1);
  });
  socket.on('close', () => process.exit(0));
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
} else {
  const channel = new Channel(new Socket({ fd: Number(first), readable: true, writable: true }));
  await Promise.all(
    Object.entries(PORTS).map(([service, port]) => {
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        const connection = channel.open(Number(service));
        socket.pipe(connection).pipe(socket);
        socket.on('error', () => connection.destroy());
        socket.on('close', () => connection.destroy());
        connection.on('close', () => socket.destroy());
      });
      return new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', resolve);
      });
    }),
  );
  // The program must not have the pipe too, and Node shuts only low numbers by itself: an empty file stands in its place.
  const pipe = Number(first);
  const between = Array.from({ length: pipe - 3 }, () => 'ignore' as const);
  const stdio = ['inherit', 'inherit', 'inherit', ...between, openSync('/dev/null', 'r')] as const;
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: [...stdio] });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.once('error', (error: NodeJS.ErrnoException) => {
    process.stderr.write(`${words[0]} could not be started: ${error.code ?? error.message}\n`);
    process.exit(error.code === 'ENOENT' ? 127 : 126);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
}
