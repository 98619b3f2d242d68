/** The client of the HTTP benchmarks: a process of its own that talks to whatever server it is told to. */
import { connect } from 'node:net';
import { type Load, type Loaded, SERIAL } from './load.ts';

process.on('message', (load: Asked | 'go') => {
  if (load === 'go') return;
  run(load).then(
    (loaded) => process.send?.(loaded),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});

/** What is asked, and whether who told us says when to go on after the first answers. */
type Asked = Load & { readonly waits: boolean };

/** Every connection asks, waits for the whole answer, and asks again. Time is taken once each was answered once. */
async function run(load: Asked): Promise<Loaded> {
  const course: Course = { latencies: [], start: 0, until: Number.POSITIVE_INFINITY };
  let absent = load.conversations.length;
  const { promise: everyone, resolve: begin } = Promise.withResolvers<void>();
  const setOff = () => {
    course.start = performance.now();
    if (load.seconds !== null) course.until = course.start + load.seconds * 1000;
    begin();
  };
  const arrive = () => {
    absent -= 1;
    if (absent === 0 && load.waits) {
      process.once('message', setOff);
      process.send?.({ arrived: true });
    } else if (absent === 0) setOff();
    return everyone;
  };
  await Promise.all(load.conversations.map((tokens) => converse({ load, tokens, course, arrive })));
  const { latencies } = course;
  const seconds = (performance.now() - course.start) / 1000;
  latencies.sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const all = latencies.length + load.conversations.length;
  return { rate: latencies.length / seconds, answers: all, p50: at(0.5), p99: at(0.99) };
}

interface Course {
  readonly latencies: number[];
  start: number;
  until: number;
}

interface Conversation {
  readonly load: Load;
  readonly tokens: readonly string[];
  readonly course: Course;
  /** Waits for all the others. */
  readonly arrive: () => Promise<void>;
}

function converse({ load, tokens, course, arrive }: Conversation): Promise<void> {
  const { port, path, body, walk } = load;
  const request = (token: string) =>
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${numbered(body)}`;
  return new Promise((resolve, reject) => {
    const left = [...tokens];
    let next = request(left.shift() ?? '');
    let sentAt = 0;
    let received = '';
    let waiting = true;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setEncoding('latin1');
    const send = () => {
      sentAt = performance.now();
      socket.write(next, 'latin1');
    };
    const end = () => {
      socket.removeAllListeners('close');
      socket.end();
      resolve();
    };
    /** What to ask after an answer; undefined at the end. */
    const after = (answer: string, now: number): string | undefined => {
      if (!walk) return now < course.until ? next : undefined;
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
      const answer = received;
      received = '';
      if (!answer.startsWith('HTTP/1.1 200 ')) return void socket.destroy(new Error(answer.slice(0, 1000)));
      if (!waiting) course.latencies.push(now - sentAt);
      const following = after(answer, now);
      if (following === undefined) return end();
      next = following;
      if (!waiting) return send();
      waiting = false;
      void arrive().then(send);
    });
  });
}

let sent = 0;

function numbered(body: string): string {
  sent += 1;
  return body.replace(SERIAL, String(sent).padStart(SERIAL.length, '0'));
}

function isWhole(received: string): boolean {
  const head = received.indexOf('\r\n\r\n');
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${received.slice(0, head)}`);
  return received.length >= head + 4 + Number(length);
}
