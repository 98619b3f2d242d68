/** The client of the HTTP benchmarks: a process of its own that talks to whatever server it is told to. */
import { connect } from 'node:net';
import type { Load, Loaded } from './load.ts';

process.on('message', (load: Load) => {
  run(load).then(
    (loaded) => process.send?.(loaded),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});

/** Every connection asks, waits for the whole answer, and asks again. */
async function run(load: Load): Promise<Loaded> {
  const latencies: number[] = [];
  const start = performance.now();
  const until = load.seconds === null ? Number.POSITIVE_INFINITY : start + load.seconds * 1000;
  await Promise.all(load.conversations.map((tokens) => converse(load, { tokens, until, latencies })));
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { answers: latencies.length, seconds, p50: at(0.5), p99: at(0.99) };
}

interface Conversation {
  readonly tokens: readonly string[];
  readonly until: number;
  readonly latencies: number[];
}

function converse(load: Load, { tokens, until, latencies }: Conversation): Promise<void> {
  const { port, path, body, walk } = load;
  const request = (token: string) =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  return new Promise((resolve, reject) => {
    const left = [...tokens];
    let next = request(left.shift() ?? '');
    let sentAt = 0;
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setEncoding('latin1');
    const send = () => {
      sentAt = performance.now();
      socket.write(next, 'latin1');
    };
    /** What to ask after an answer; undefined at the end. */
    const after = (answer: string): string | undefined => {
      if (!walk) return performance.now() < until ? next : undefined;
      const fresh = /"phase_token":"([^"]+)"/.exec(answer)?.[1] ?? left.shift();
      return fresh === undefined ? undefined : request(fresh);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server hung up')));
    socket.on('data', (chunk: string) => {
      received = received === '' ? chunk : received + chunk;
      if (!isWhole(received)) return;
      const now = performance.now();
      latencies.push(now - sentAt);
      const answer = received;
      received = '';
      if (!answer.startsWith('HTTP/1.1 200 ')) return void socket.destroy(new Error(answer.slice(0, 1000)));
      const following = after(answer);
      if (following !== undefined) {
        next = following;
        return send();
      }
      socket.removeAllListeners('close');
      socket.end();
      resolve();
    });
  });
}

function isWhole(received: string): boolean {
  const head = received.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${received.slice(0, head)}`);
  return received.length >= head + 4 + Number(length);
}
