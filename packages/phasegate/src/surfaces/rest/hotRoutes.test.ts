import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import type { AgentPrincipal } from '../../runtime/ports.ts';
import { type Door, openDoor } from './fixtures/openDoor.ts';
import { type HotRoutes, MOST_UNDER_WAY } from './hotRoutes.ts';
import { serveHttp } from './httpServer.ts';

test('whatever is sent to a hot route is answered and recorded as by Hono', async () => {
  const fast = await openSide('fast');
  const usual = await openSide('usual');
  const numRuns = cases({ quick: 100, full: 2000 });

  await fc.assert(
    fc.asyncProperty(REQUEST, async (request) => {
      const [one, other] = [await ask(fast, request), await ask(usual, request)];

      expect(one).toEqual(other);
    }),
    { numRuns, seed: 4, endOnFailure: true },
  );

  expect(await fast.recorded()).toEqual(await usual.recorded());
  expect(await fast.counted()).toEqual(await usual.counted());
  // Both ways were taken, each many times.
  expect(fast.lane.taken).toBeGreaterThan(numRuns / 5);
  expect(fast.lane.left).toBeGreaterThan(numRuns / 5);
});

test('a request that comes in pieces, and one sent before the last was answered, are answered as any other', async () => {
  const side = await openSide('fast');
  const socket = await opened(side.port);
  const whole = bytesOf(side, { path: CHECK, body: GOOD[0] ?? '', twists: [] });

  const inPieces = answerOn(socket);
  for (const part of [whole.subarray(0, 10), whole.subarray(10, whole.length - 3), whole.subarray(-3)]) {
    await new Promise((resolve) => socket.write(part, resolve));
  }
  expect((await inPieces).body).toEqual({ allowed: true });

  const both = answersOn(socket, 2);
  socket.write(whole);
  socket.write(whole);
  expect((await both).map(({ body }) => body)).toEqual([{ allowed: true }, { allowed: true }]);
  expect(side.lane.taken).toBeGreaterThan(0);
});

test('requests of one caller that never send their whole body are refused above the limit [adv.O4]', async () => {
  const side = await openSide('fast');
  const whole = bytesOf(side, { path: CHECK, body: GOOD[0] ?? '', twists: [] });
  const sockets = await Promise.all(Array.from({ length: 2 * MOST_UNDER_WAY }, () => opened(side.port)));
  for (const socket of sockets) socket.write(whole.subarray(0, -1));
  await expect.poll(() => side.lane.taken + side.lane.left).toBe(sockets.length);

  expect(side.lane).toEqual({ taken: MOST_UNDER_WAY, left: MOST_UNDER_WAY });
  const one = sockets[0] ?? expect.fail('there is no connection');
  const answered = answerOn(one);
  one.write(whole.subarray(-1));
  expect((await answered).body).toEqual({ allowed: true });
});

test('a token that was replaced while the rest of its request was awaited opens nothing [S2.93]', async () => {
  const side = await openSide('fast');
  const socket = await opened(side.port);
  const whole = bytesOf(side, { path: CHECK, body: GOOD[0] ?? '', twists: [] });
  const answered = answerOn(socket);
  socket.write(whole.subarray(0, -1));
  await expect.poll(() => side.lane.taken).toBe(1);

  const [run] = await side.door.project.as(ADA).runs();
  for (let n = 0; n < 2; n += 1) await side.door.project.claims.token(run?.run ?? '', ADA);
  const real = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + 2000);
  onTestFinished(() => clock.mockRestore());
  socket.write(whole.subarray(-1));

  expect((await answered).body).toMatchObject({ error: 'token_invalid' });
});

test('logging or tracing every request takes all of them to Hono', () => {
  expect(openDoor({ settings: { verbose: true } }).app.hot).toBeNull();
  expect(openDoor({ settings: { tracing: true } }).app.hot).toBeNull();
});

const CHECK = '/api/v1/tools/check';
const TRANSITION = '/api/v1/tasks/transition';
const ADA: AgentPrincipal = { kind: 'agent', name: 'ada' };

/** One server, its agent's newest token, and how many requests its hot routes took and left. */
interface Side {
  readonly port: number;
  readonly door: Door;
  readonly lane: { taken: number; left: number };
  readonly key: string;
  readonly tokens: { current: string; old: string };
  claim(): Promise<void>;
  recorded(): Promise<Readonly<Record<string, number>>>;
  counted(): Promise<readonly string[]>;
}

async function openSide(way: 'fast' | 'usual'): Promise<Side> {
  const door = openDoor();
  const lane = { taken: 0, left: 0 };
  const { hot } = door.app;
  const watched: HotRoutes | null = hot && {
    take(request, response) {
      const taken = hot.take(request, response);
      if (taken) lane.taken++;
      else lane.left++;
      return taken;
    },
  };
  const server = await serveHttp({
    app: door.app,
    host: '127.0.0.1',
    port: 0,
    ...(way === 'fast' ? { hot: () => watched } : {}),
  });
  onTestFinished(() => server.close());
  const { key } = await door.project.agents.add('ada', { by: 'spawn' });
  const side: Side = {
    port: server.port,
    door,
    lane,
    key,
    tokens: { current: '', old: '' },
    async claim() {
      await door.project.as({ kind: 'human', name: 'operator' }).start({ workflow: 'errand', queue: true });
      const claimed = await door.project.claims.claim(ADA, []);
      if (claimed === null) throw new Error('nothing to claim');
      side.tokens.old = side.tokens.current || claimed.token;
      side.tokens.current = claimed.token;
    },
    async recorded() {
      const counts: Record<string, number> = {};
      for (const { event } of await door.memory.store.feed(0, -1)) counts[event] = (counts[event] ?? 0) + 1;
      return counts;
    },
    async counted() {
      const text = await door.app.metrics.text();
      // How often is the same on both ways; how long is not.
      const lines = text.split('\n').filter((line) => line.startsWith('phasegate_'));
      return lines.filter((line) => !/_(?:bucket|sum)[ {]/.test(line));
    },
  };
  await side.claim();
  return side;
}

const GOOD = [
  '{"tool":"read_files","input":{"path":"src/a.ts"}}',
  '{"tool":"read_files"}',
  '{"tool":"write_files","input":{"path":"src/a.ts"}}',
  '{"tool":"read_files","input":{"path":"../é/\u2028"}}',
  '{"calls":[{"tool":"read_files","input":{}},{"tool":"bash","input":{"command":"ls"}}]}',
];
const BAD = [
  '',
  'null',
  '[]',
  '"text"',
  '{}',
  '{"tool":""}',
  '{"tool":7}',
  `{"tool":"${'x'.repeat(257)}"}`,
  '{"tool":"read_files","input":[]}',
  '{"tool":"read_files","input":null}',
  '{"tool":"read_files","inputs":{}}',
  '{"tool":"read_files","input":{"__proto__":{"path":"x"}}}',
  '{"tool":"read_files","input":{"path":1e999}}',
  `{"tool":"read_files","input":${'{"a":'.repeat(250)}1${'}'.repeat(250)}}`,
  '{"calls":[]}',
  '{"calls":[{"tool":"read_files"}],"tool":"read_files"}',
  '{"tool":"read_files"',
  '\ufeff{"tool":"read_files"}',
];
const ARTIFACTS = [
  '{"artifacts":{}}',
  '{"artifacts":{"note":"é"},"target":"BUILD"}',
  '{"artifacts":{},"target":"NOWHERE"}',
  '{"artifacts":{},"target":null}',
  '{"artifacts":{},"outcome":"fail","reason":"it broke"}',
  '{"artifacts":{},"outcome":"maybe"}',
  '{"artifacts":[]}',
  '{"target":"BUILD"}',
  '{"artifacts":{},"item":"nobody"}',
];

/** Each changes the lines of a request, or its bytes. */
const TWISTS: Readonly<Record<string, (request: Lines, side: Side) => void>> = {
  nothing: () => undefined,
  'another host': (request) => request.headers.set('Host', 'evil.example'),
  'another name of ours': (request) => request.headers.set('Host', 'LOCALHOST'),
  'no host': (request) => request.headers.delete('Host'),
  'a foreign origin': (request) => request.headers.set('Origin', 'http://evil.example'),
  'our own origin': (request) => request.headers.set('Origin', 'http://127.0.0.1:8000'),
  'another site': (request) => request.headers.set('Sec-Fetch-Site', 'cross-site'),
  'a cookie beside': (request) => request.headers.set('Cookie', 'phasegate_session=pgs_x'),
  'another type': (request) => request.headers.set('Content-Type', 'text/plain'),
  'a type with a charset': (request) =>
    request.headers.set('Content-Type', 'application/json; charset=utf-8'),
  'no type': (request) => request.headers.delete('Content-Type'),
  'no credential': (request) => request.headers.delete('Authorization'),
  'a broken token': (request, { tokens }) =>
    request.headers.set('Authorization', `Bearer ${tokens.current}x`),
  'an old token': (request, { tokens }) => request.headers.set('Authorization', `Bearer ${tokens.old}`),
  'an agent key': (request, { key }) => request.headers.set('Authorization', `Bearer ${key}`),
  'a session': (request) => request.headers.set('Authorization', 'Bearer pgs_nobody'),
  'small letters': (request, { tokens }) => request.headers.set('authorization', `bearer ${tokens.current}`),
  'two spaces': (request, { tokens }) => request.headers.set('Authorization', `Bearer  ${tokens.current}`),
  'the token in the URL': (request, { tokens }) => {
    request.line = request.line.replace(' HTTP', `?token=${tokens.current} HTTP`);
  },
  'a query': (request) => {
    request.line = request.line.replace(' HTTP', '?a=b HTTP');
  },
  'another method': (request) => {
    request.line = request.line.replace('POST', 'PUT');
  },
  'a whole URL': (request) => {
    request.line = request.line.replace('/api', 'http://evil.example/api');
  },
  'a header more': (request) => request.headers.set('X-Request-Id', 'a b c'),
  'a header that goes on': (request) => request.headers.set('X-Folded', 'a\r\n b'),
  'a transfer encoding': (request) => request.headers.set('Transfer-Encoding', 'chunked'),
  'two lengths': (request) => request.headers.set('content-length', '1'),
  'bytes that are not text': (request) => {
    request.body = Buffer.from('{"tool":"read_files","input":{"path":"\xff"}}', 'latin1');
  },
};

interface Asking {
  readonly path: string;
  readonly body: string;
  readonly twists: readonly string[];
}

const REQUEST: fc.Arbitrary<Asking> = fc
  .oneof(
    { weight: 3, arbitrary: fc.record({ path: fc.constant(CHECK), body: fc.constantFrom(...GOOD) }) },
    { weight: 2, arbitrary: fc.record({ path: fc.constant(CHECK), body: fc.constantFrom(...BAD) }) },
    {
      weight: 2,
      arbitrary: fc.record({ path: fc.constant(TRANSITION), body: fc.constantFrom(...ARTIFACTS) }),
    },
  )
  .chain((request) =>
    fc
      .oneof(
        { weight: 1, arbitrary: fc.constant([]) },
        {
          weight: 3,
          arbitrary: fc.array(fc.constantFrom(...Object.keys(TWISTS)), { minLength: 1, maxLength: 2 }),
        },
      )
      .map((twists) => ({ ...request, twists })),
  );

interface Lines {
  line: string;
  readonly headers: Map<string, string>;
  body: Buffer;
}

function bytesOf(side: Side, { path, body, twists }: Asking): Buffer {
  const request: Lines = {
    line: `POST ${path} HTTP/1.1`,
    headers: new Map([
      ['Host', '127.0.0.1'],
      ['Authorization', `Bearer ${side.tokens.current}`],
      ['Content-Type', 'application/json'],
    ]),
    body: Buffer.from(body),
  };
  for (const twist of twists) TWISTS[twist]?.(request, side);
  const headers = [...request.headers, ['Content-Length', String(request.body.length)]];
  const head = [request.line, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), request.body]);
}

/** What a client sees, without what is another every time. */
interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

async function ask(side: Side, request: Asking): Promise<Seen> {
  // Slowly enough that guesses are answered for what they are.
  side.door.pass(3_100);
  const socket = await opened(side.port);
  const answer = answerOn(socket);
  socket.write(bytesOf(side, request));
  const { status, headers, body, text } = await answer;
  socket.destroy();
  const next = /"phase_token":"([^"]+)"/.exec(text)?.[1];
  if (next !== undefined) {
    side.tokens.old = side.tokens.current;
    side.tokens.current = next;
  } else if (request.path === TRANSITION && status === 200) await side.claim();
  return { status, headers, body };
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return socket;
}

type Answered = Seen & { readonly text: string };

async function answerOn(socket: Socket): Promise<Answered> {
  const [only] = await answersOn(socket, 1);
  return only as Answered;
}

/** Reads so many answers, or what there is when the server hangs up. */
function answersOn(socket: Socket, count: number): Promise<readonly Answered[]> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const answers: Answered[] = [];
    const end = () => {
      socket.removeListener('data', hear);
      resolve(answers);
    };
    const hear = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let read = readAnswer(received); read !== null; read = readAnswer(received)) {
        answers.push(read.answer);
        received = received.subarray(read.length);
      }
      if (answers.length >= count) end();
    };
    socket.on('data', hear);
    socket.once('close', end);
  });
}

function readAnswer(received: Buffer): { readonly answer: Answered; readonly length: number } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [line = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((one) => [
      one.slice(0, one.indexOf(':')).toLowerCase(),
      one.slice(one.indexOf(':') + 1).trim(),
    ]),
  );
  const rest = received.subarray(end + 4);
  const chunk = headers['transfer-encoding'] === 'chunked' ? rest.indexOf('0\r\n\r\n') : -2;
  const size = chunk === -2 ? Number(headers['content-length'] ?? 0) : chunk + 5;
  if (chunk === -1 || rest.length < size) return null;
  const body = rest.toString('utf8', 0, size);
  const text = chunk === -2 ? body : body.replace(/0\r\n\r\n$/, '').replace(/^[\da-f]+\r\n/, '');
  for (const name of CHANGING) delete headers[name];
  return {
    answer: { status: Number(line.split(' ')[1]), headers, body: masked(text), text },
    length: end + 4 + size,
  };
}

const CHANGING = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

function masked(text: string): unknown {
  const plain = text
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID');
  return plain.startsWith('{') ? JSON.parse(plain) : plain;
}
