import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a server is to be asked. */
export interface Load {
  readonly port: number;
  readonly path: string;
  /** The JSON that is sent; ASCII. `SERIAL` in it is another number each time. */
  readonly body: string;
  /** One list of bearers for each connection. */
  readonly conversations: readonly (readonly string[])[];
  /** How long to ask; null: until the bearers are used up. */
  readonly seconds: number | null;
  /** Whether an answer brings the bearer of the next request, until one brings none. */
  readonly walk: boolean;
}

/** What a body has where each request has a number of its own, as long as this, so that no two send the same. */
export const SERIAL = '<<serial>>';

/** What came of it: every answer was a 200. Times in milliseconds, without each connection's first answer. */
export interface Loaded {
  /** A second. */
  readonly rate: number;
  /** All of them, with those before time was taken. */
  readonly answers: number;
  readonly p50: number;
  readonly p99: number;
}

/** A process that asks servers: keep-alive, no pipelining, the same code for every server. */
export interface LoadClient {
  /** With `arrived`, nobody asks a second time before it is over: every connection was answered once by then. */
  run(load: Load, arrived?: () => Promise<void>): Promise<Loaded>;
  close(): void;
}

/** What the process says besides what came of it. */
type Told = { readonly failed: string } | { readonly arrived: true };

/** Starts it. */
export function startLoadClient(): LoadClient {
  const child = fork(join(import.meta.dirname, 'loadClient.ts'));
  return {
    async run(load, arrived) {
      child.send({ ...load, waits: arrived !== undefined });
      for (;;) {
        const [message] = (await once(child, 'message')) as [Loaded | Told];
        if ('failed' in message) throw new Error(message.failed);
        if (!('arrived' in message)) return message;
        await arrived?.();
        child.send('go');
      }
    },
    close: () => void child.kill(),
  };
}

/** A bare `node:http` server in a process of its own: reads JSON, answers with JSON of the size of `answer`. */
export async function startEcho(
  answer: unknown,
): Promise<{ readonly port: number; readonly process: ChildProcess }> {
  const child = fork(join(import.meta.dirname, 'echoServer.ts'));
  child.send({ answer });
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
  return { port, process: child };
}
