import { type ChildProcess, spawn } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/client';
import type { EnclosedProgram } from '../runtime/ports.ts';

type Message = Parameters<Transport['send']>[0];

/** A server's program in its sandbox, spoken to by lines on its standard input and output as MCP has it. */
export function enclosedTransport(program: EnclosedProgram): Transport {
  let child: ChildProcess | undefined;
  let rest = '';
  const transport: Transport = {
    async start() {
      const [file, ...words] = program.argv;
      const given = program.descriptors.map((descriptor) => descriptor ?? 'ignore');
      const started = spawn(file, words, {
        cwd: program.cwd,
        env: program.environment,
        stdio: ['pipe', 'pipe', 'ignore', ...given],
      });
      child = started;
      // It has its own descriptors by now.
      await program.close();
      started.stdin?.on('error', () => undefined);
      started.stdout?.on('data', (chunk: Buffer) => take(chunk.toString()));
      started.once('error', (error) => transport.onerror?.(error));
      started.once('close', () => transport.onclose?.());
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (child?.stdin?.writable !== true) return reject(new Error('the server is gone'));
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) =>
          error == null ? resolve() : reject(error),
        );
      }),
    async close() {
      // The sandbox ends all that is in it.
      child?.kill('SIGKILL');
    },
  };

  function take(text: string): void {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MOST_CHARACTERS) void transport.close();
    for (const line of lines.filter((one) => one.trim() !== '')) {
      try {
        transport.onmessage?.(JSON.parse(line) as Message);
      } catch (error) {
        transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  return transport;
}

const MOST_CHARACTERS = 16 * 1024 * 1024;
