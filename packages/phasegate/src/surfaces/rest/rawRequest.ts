/** A request as it stood on the wire, of which everything that matters here was understood for certain. */
export interface RawRequest {
  readonly path: string;
  readonly host: string;
  readonly authorization: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** What is read at most; larger requests are for the server that can wait for them. */
export const LARGEST_RAW = 64 * 1024;

/**
 * Reads a POST of a client that waits for its answer. This is no HTTP parser: it knows one plain spelling and takes
 * nothing else. `more` means that the beginning is such a request and the rest is not there yet; `other` means that
 * somebody who really knows HTTP must read these bytes.
 */
export function readRaw(bytes: Buffer, paths: ReadonlySet<string>): RawRequest | 'more' | 'other' {
  if (bytes.length > LARGEST_RAW || bytes[0] !== LETTER_P) return 'other';
  const end = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  if (end === -1) return bytes.length > LARGEST_HEAD ? 'other' : 'more';
  if (end > LARGEST_HEAD) return 'other';
  const head = bytes.toString('latin1', 0, end + 2);
  const first = head.indexOf('\r\n');
  if (!head.startsWith('POST ') || !head.startsWith(' HTTP/1.1', first - 9)) return 'other';
  const path = head.slice(5, first - 9);
  if (!paths.has(path)) return 'other';
  const found = readHeaders(head, first + 2);
  if (found === null) return 'other';
  const { host, authorization, contentType } = found;
  const missing = bytes.length - (end + 4) - found.length;
  if (missing > 0 || found.length + end > LARGEST_RAW) return 'other';
  if (missing < 0) return 'more';
  return { path, host, authorization, contentType, body: bytes.subarray(end + 4) };
}

interface Headers {
  host: string;
  authorization: string;
  contentType: string;
  length: number;
}

/** Null for anything that is spelt oddly, said twice, or changes how a request is to be read. */
function readHeaders(head: string, start: number): Headers | null {
  PLAIN.lastIndex = start;
  if (!PLAIN.test(head)) return null;
  const found = { host: '', authorization: '', contentType: '', length: 0 };
  for (let at = start; at < head.length; ) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf('\r\n', colon);
    if (!place(found, head.slice(at, colon).toLowerCase(), head.slice(colon + 1, end).trim())) return null;
    at = end + 2;
  }
  const { host, authorization, contentType, length } = found;
  return host === '' || authorization === '' || contentType === '' || length === 0 ? null : found;
}

function place(found: Headers, name: string, value: string): boolean {
  switch (name) {
    case 'host':
      if (found.host !== '') return false;
      found.host = value;
      return value !== '';
    case 'authorization':
      if (found.authorization !== '') return false;
      found.authorization = value;
      return value !== '';
    case 'content-type':
      if (found.contentType !== '') return false;
      found.contentType = value;
      return value !== '';
    case 'content-length':
      if (found.length !== 0 || !/^[1-9]\d{0,5}$/.test(value)) return false;
      found.length = Number(value);
      return true;
    case 'connection':
      return value === 'keep-alive';
    default:
      return !DECISIVE.has(name);
  }
}

const LETTER_P = 0x50;
const LARGEST_HEAD = 12 * 1024;
/** Lines of a name, a colon and printable ASCII, each with its own end. */
const PLAIN = /(?:[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e]*\r\n)+$/y;
/** These change what a request is, or who may send it; the other lane knows what to do with them. */
const DECISIVE: ReadonlySet<string> = new Set([
  'cookie',
  'expect',
  'http2-settings',
  'keep-alive',
  'origin',
  'proxy-connection',
  'sec-fetch-site',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
