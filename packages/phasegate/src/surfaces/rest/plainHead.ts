/** What the head of a request says that is of the plain form agents send. */
export interface PlainHead {
  readonly host: string;
  readonly authorization: string;
  /** Of the body, in bytes. */
  readonly length: number;
}

/**
 * Reads names and values as Node's parser gives them. Null for a request that a guard has to look at more closely:
 * one that a browser may have sent, whose body has no plain length, or that says something decisive twice.
 */
export function plainHead(raw: readonly string[]): PlainHead | null {
  const found = { host: '', authorization: '', type: '', length: 0 };
  for (let at = 0; at < raw.length; at += 2) {
    if (!place(found, (raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '')) return null;
  }
  const { host, authorization, type, length } = found;
  const whole = host !== '' && authorization !== '' && length !== 0;
  return whole && type === 'application/json' ? { host, authorization, length } : null;
}

interface Found {
  host: string;
  authorization: string;
  type: string;
  length: number;
}

function place(found: Found, name: string, value: string): boolean {
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
      if (found.type !== '') return false;
      found.type = value;
      return value !== '';
    case 'content-length':
      if (found.length !== 0) return false;
      found.length = Number(value);
      return found.length > 0;
    default:
      return !DECISIVE.has(name);
  }
}

/** These change how a request is read, or who may send it. */
const DECISIVE: ReadonlySet<string> = new Set([
  'content-encoding',
  'cookie',
  'expect',
  'origin',
  'sec-fetch-site',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
