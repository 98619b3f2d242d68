import { describe, expect, test } from 'vitest';
import { LARGEST_RAW, readRaw } from './rawRequest.ts';

const PATHS = new Set(['/x']);
const BODY = '{"a":1}';
const PLAIN = [
  'POST /x HTTP/1.1',
  'Host: 127.0.0.1:8000',
  'Authorization: Bearer a.b.c',
  'content-type:application/json',
  `Content-Length: ${BODY.length}`,
  'Connection: keep-alive',
];

function bytes(lines: readonly string[], body = BODY): Buffer {
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

/** The plain request with a line put in, in place of the one that starts so. */
function withLine(line: string, instead = 'Connection'): Buffer {
  return bytes(PLAIN.map((old) => (old.startsWith(instead) ? line : old)));
}

test('a plainly spelt request is read', () => {
  expect(readRaw(bytes(PLAIN), PATHS)).toEqual({
    path: '/x',
    host: '127.0.0.1:8000',
    authorization: 'Bearer a.b.c',
    contentType: 'application/json',
    body: Buffer.from(BODY),
  });
});

test('every beginning of one waits for the rest', () => {
  const whole = bytes(PLAIN);
  for (let length = 1; length < whole.length; length++) {
    expect(readRaw(whole.subarray(0, length), PATHS)).toBe('more');
  }
});

describe('what is spelt in any other way is for somebody who knows HTTP', () => {
  test.each([
    ['another method', withLine('GET /x HTTP/1.1', 'POST')],
    ['a method in small letters', withLine('post /x HTTP/1.1', 'POST')],
    ['another path', withLine('POST /y HTTP/1.1', 'POST')],
    ['a query', withLine('POST /x?a=b HTTP/1.1', 'POST')],
    ['a whole URL', withLine('POST http://127.0.0.1/x HTTP/1.1', 'POST')],
    ['an older version', withLine('POST /x HTTP/1.0', 'POST')],
    ['two spaces', withLine('POST  /x HTTP/1.1', 'POST')],
    ['no host', withLine('X: y', 'Host')],
    ['two hosts', withLine('Host: evil')],
    ['an empty host', withLine('Host:', 'Host')],
    ['two credentials', withLine('authorization: Bearer x.y.z')],
    ['two types', withLine('Content-Type: application/json')],
    ['two lengths', withLine(`Content-Length: ${BODY.length}`)],
    ['no length', withLine('X: y', 'Content-Length')],
    ['a length with a sign', withLine('Content-Length: +7', 'Content-Length')],
    ['a length in hexadecimal', withLine('Content-Length: 0x7', 'Content-Length')],
    ['a length with a list', withLine('Content-Length: 7, 7', 'Content-Length')],
    ['a length of nothing', withLine('Content-Length: 0', 'Content-Length')],
    ['a transfer encoding', withLine('Transfer-Encoding: chunked')],
    ['an upgrade', withLine('Upgrade: websocket')],
    ['an expectation', withLine('Expect: 100-continue')],
    ['a connection that ends', withLine('Connection: close')],
    ['a cookie', withLine('Cookie: phasegate_session=x')],
    ['an origin', withLine('Origin: http://127.0.0.1:8000')],
    ['a site', withLine('Sec-Fetch-Site: same-origin')],
    ['a space before the colon', withLine('Transfer-Encoding : chunked')],
    ['a line that goes on', withLine('X: y\r\n Transfer-Encoding: chunked')],
    ['a bare line feed', withLine('X: y\nTransfer-Encoding: chunked')],
    ['a bare carriage return', withLine('X: y\rTransfer-Encoding: chunked')],
    ['a NUL', withLine('X: \0')],
    ['a letter beyond ASCII', withLine('X: \xe9')],
    ['a line without a colon', withLine('X')],
    ['no name', withLine(': y')],
    ['more than one request', bytes(PLAIN, `${BODY}P`)],
    ['too many headers', withLine(`X: ${'y'.repeat(13_000)}`)],
    ['too much of everything', bytes(PLAIN, 'x'.repeat(LARGEST_RAW))],
    ['a body that will be too large', withLine('Content-Length: 65536', 'Content-Length')],
    ['no HTTP at all', Buffer.from('\x16\x03\x01\x02\x00')],
  ])('%s', (_name, sent) => {
    expect(readRaw(sent, PATHS)).toBe('other');
  });
});
