import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDoor } from './fixtures/openDoor.ts';
import { serveHttp } from './httpServer.ts';

const PATH = '/api/v1/tools/check';
const BODY = '{"tool":"read_files","input":{"path":"a"}}';
/** Another whole request, for a body that is to pass for one. */
const SMUGGLED = `POST ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}`;

/** How a request differs from the plain one. */
interface Twist {
  readonly line?: string;
  /** The header that is left out. */
  readonly instead?: string;
  readonly more?: readonly string[];
  readonly body?: string;
  /** Of each line. */
  readonly end?: string;
}

const CHUNKED: Twist = { instead: 'Content-Length', more: ['Transfer-Encoding: chunked'] };
/** More than Node keeps unless it is told to. */
const MANY = Array.from({ length: 2100 }, () => 'a:b');

describe('what is not HTTP is refused and judged by nobody, and the connection is closed', () => {
  test.each<[string, Twist]>([
    ['a method in small letters', { line: `post ${PATH} HTTP/1.1` }],
    ['a method that does not exist', { line: `POKE ${PATH} HTTP/1.1` }],
    ['another version', { line: `POST ${PATH} HTTP/3.7` }],
    ['a tab in the path', { line: `POST ${PATH}\tx HTTP/1.1` }],
    ['no host', { instead: 'Host', more: ['X: y'] }],
    ['two equal lengths', { more: [`Content-Length: ${BODY.length}`] }],
    ['two lengths', { more: ['Content-Length: 1'] }],
    ['a length with a sign', { instead: 'Content-Length', more: [`Content-Length: +${BODY.length}`] }],
    ['a negative length', { instead: 'Content-Length', more: ['Content-Length: -1'] }],
    ['a length in hexadecimal', { instead: 'Content-Length', more: ['Content-Length: 0x2a'] }],
    ['a length with a list', { instead: 'Content-Length', more: ['Content-Length: 42, 42'] }],
    ['a length with a space', { instead: 'Content-Length', more: ['Content-Length: 4 2'] }],
    ['an empty length', { instead: 'Content-Length', more: ['Content-Length:'] }],
    [
      'a length beyond every number',
      { instead: 'Content-Length', more: [`Content-Length: ${'9'.repeat(30)}`] },
    ],
    ['a transfer encoding beside a length', { more: ['Transfer-Encoding: chunked'] }],
    ['a transfer encoding in capitals beside a length', { more: ['TRANSFER-ENCODING: Chunked'] }],
    ['an unknown transfer encoding beside a length', { more: ['Transfer-Encoding: xchunked'] }],
    ['two transfer encodings', { instead: 'Content-Length', more: ['Transfer-Encoding: chunked, identity'] }],
    ['a space before the colon', { more: ['Transfer-Encoding : chunked'] }],
    ['a line that goes on', { more: ['Transfer-Encoding:\r\n chunked'] }],
    ['a folded line', { more: ['X: y\r\n Transfer-Encoding: chunked'] }],
    ['a line that begins with a space', { more: [' X: y'] }],
    ['a bare line feed', { more: ['X: y\nTransfer-Encoding: chunked'] }],
    ['bare line feeds alone', { end: '\n' }],
    ['a bare carriage return', { more: ['X: y\rTransfer-Encoding: chunked'] }],
    ['a NUL in a value', { more: ['X: \0'] }],
    ['a NUL in a name', { more: ['X\0: y'] }],
    ['a line without a colon', { more: ['X'] }],
    ['no name', { more: [': y'] }],
    ['a name beyond ASCII', { more: ['X\xe9: y'] }],
    ['headers beyond their limit', { more: [`X: ${'y'.repeat(17_000)}`] }],
    ['thousands of headers', { more: Array.from({ length: 10_000 }, () => 'a:b') }],
    ['a chunk whose size is none', { ...CHUNKED, body: `xyz\r\n${BODY}\r\n0\r\n\r\n` }],
    ['a chunk whose size has a sign', { ...CHUNKED, body: `-2a\r\n${BODY}\r\n0\r\n\r\n` }],
    ['a chunk that is longer than it says', { ...CHUNKED, body: `1\r\n${BODY}\r\n0\r\n\r\n` }],
    ['a chunk with a bare line feed', { ...CHUNKED, body: `2a\n${BODY}\n0\n\n` }],
    ['a chunk beyond every number', { ...CHUNKED, body: `${'f'.repeat(20)}\r\n${BODY}\r\n0\r\n\r\n` }],
  ])('%s', async (_name, twist) => {
    const { port, token, judged } = await open();
    const answers = await sent(port, bytesOf(token, twist));

    expect(statusesOf(answers)).toHaveLength(1);
    expect(statusesOf(answers)[0]).toMatch(/^4(00|31|08|13)$/);
    expect(await judged()).toBe(0);
  });

  test('no HTTP at all', async () => {
    const { port } = await open();

    expect(
      statusesOf(await sent(port, Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc', 'latin1'))),
    ).toEqual(['400']);
    expect(statusesOf(await sent(port, Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')))).toEqual(['400']);
  });
});

describe('what is HTTP, but not what an agent would send, is refused by the guards and judged by nobody', () => {
  test.each<[string, string, Twist]>([
    ['two hosts', '403', { more: ['Host: evil.example'] }],
    ['two hosts, ours last', '403', { instead: 'Host', more: ['Host: evil.example', 'Host: 127.0.0.1'] }],
    ['an empty host', '400', { instead: 'Host', more: ['Host:'] }],
    ['a whole URL of another host', '403', { line: `POST http://evil.example${PATH} HTTP/1.1` }],
    ['two credentials', '401', { more: ['authorization: Bearer x.y.z'] }],
    ['two types', '415', { more: ['Content-Type: application/json'] }],
    ['an origin', '403', { more: ['Origin: http://evil.example'] }],
    ['another site', '403', { more: ['Sec-Fetch-Site: cross-site'] }],
    ['a session beside the token', '401', { more: ['Cookie: phasegate_session=x'] }],
    [
      'a foreign origin behind a hundred headers',
      '403',
      { more: [...MANY.slice(0, 100), 'Origin: http://evil.example'] },
    ],
    [
      'a foreign origin behind two thousand headers',
      '431',
      { more: [...MANY, 'Origin: http://evil.example'] },
    ],
    [
      'a body that is compressed by its head alone',
      '422',
      { more: ['Content-Encoding: gzip'], body: '\x1f\x8b' },
    ],
  ])('%s', async (_name, status, twist) => {
    const { port, token, judged } = await open();
    const answers = await sent(
      port,
      bytesOf(token, { ...twist, more: [...(twist.more ?? []), 'Connection: close'] }),
    );

    expect(statusesOf(answers)).toEqual([status]);
    expect(await judged()).toBe(0);
  });
});

describe('what Node reads although it is spelled oddly is one request like any other', () => {
  test.each<[string, Twist]>([
    ['two spaces', { line: `POST  ${PATH} HTTP/1.1` }],
    ['no version', { line: `POST ${PATH}` }],
    ['an older version', { line: `POST ${PATH} HTTP/1.0` }],
  ])('%s', async (_name, twist) => {
    const { port, token, judged } = await open();
    const answers = await sent(
      port,
      bytesOf(token, { ...twist, more: [...(twist.more ?? []), 'Connection: close'] }),
    );

    expect(statusesOf(answers)).toEqual(['200']);
    expect(await judged()).toBe(1);
  });
});

test('a request inside the body of another is never read as one', async () => {
  const { port, token, judged } = await open();
  const inside = { body: BODY.replace('"a"', JSON.stringify(SMUGGLED)), more: ['Connection: close'] };

  expect(statusesOf(await sent(port, bytesOf(token, inside)))).toEqual(['200']);
  expect(await judged()).toBe(1);
});

test('requests that are sent before the last was answered are answered in their order', async () => {
  const { port, token, judged } = await open();
  const ask = (path: string) => bytesOf(token, { body: BODY.replace('"a"', JSON.stringify(path)) });
  const other = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  const unknown = bytesOf(token, { body: '{}', more: ['Connection: close'] });

  const answers = await sent(port, Buffer.concat([ask('a'), Buffer.from(other), ask('b'), unknown]));

  expect(statusesOf(answers)).toEqual(['200', '200', '200', '422']);
  expect(await judged()).toBe(2);
});

test('a client that hangs up in the middle of a body harms nobody', async () => {
  const { port, token, judged } = await open();
  const bytes = bytesOf(token, {});
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.resume().end(bytes.subarray(0, bytes.length - 5));
  await new Promise((resolve) => socket.once('close', resolve));

  expect(statusesOf(await sent(port, bytesOf(token, { more: ['Connection: close'] })))).toEqual(['200']);
  expect(await judged()).toBe(1);
});

/** A server with its hot routes, and an agent with a token. */
async function open() {
  const door = openDoor();
  const server = await serveHttp({ app: door.app, host: '127.0.0.1', port: 0, hot: () => door.app.hot });
  onTestFinished(() => server.close());
  const { authorization, run } = await door.holder('ada');
  return {
    port: server.port,
    token: authorization,
    /** How many verdicts are in the audit of the run. */
    async judged(): Promise<number> {
      const records = await door.memory.store.history(run, { after: 0, limit: 1000 });
      return records.filter(({ event }) => event === 'tool_judged').length;
    },
  };
}

function bytesOf(token: string, { line, instead, more = [], body = BODY, end = '\r\n' }: Twist): Buffer {
  const headers = [
    'Host: 127.0.0.1',
    `Authorization: ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body, 'latin1')}`,
  ].filter((header) => instead === undefined || !header.startsWith(instead));
  const head = [line ?? `POST ${PATH} HTTP/1.1`, ...headers, ...more].join(end);
  return Buffer.from(`${head}${end}${end}${body}`, 'latin1');
}

/** Sends bytes as they are and gives everything that comes back until the server hangs up. */
function sent(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    // A server that hangs up in the middle is what is expected of it.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(text));
  });
}

function statusesOf(answers: string): readonly string[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '');
}
