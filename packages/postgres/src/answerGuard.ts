/** Bytes that the driver cannot read, or would read without end. The connection they came on is of no more use. */
export class UnknownAnswer extends Error {}

/** The server wants to know who connects in a way that the driver does not speak. */
export class UnknownMethod extends Error {}

/**
 * Looks at all that a server sends before the driver does. The driver reads beyond the end of a message that is shorter
 * than it should be, looks for the end of an error forever, and waits for messages that are longer than any can be. Throws
 * `UnknownAnswer` or `UnknownMethod`.
 */
export function createAnswerGuard(): (bytes: Buffer) => void {
  const header = Buffer.alloc(HEADER);
  let had = 0;
  let left = 0;
  let kept: Buffer[] = [];

  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (had < HEADER) {
        const copied = bytes.copy(header, had, at);
        had += copied;
        at += copied;
        if (had < HEADER) return;
        left = bodyLength(header);
      }
      const kind = header[0] as number;
      const part = bytes.subarray(at, at + left);
      at += part.length;
      left -= part.length;
      if (READ_WHOLE.has(kind)) kept.push(part);
      if (left > 0) return;
      if (kept.length > 0) requireReadable(kind, kept.length === 1 ? part : Buffer.concat(kept));
      kept = [];
      had = 0;
    }
  };
}

/** One byte for the kind of a message, and four for its length, which counts itself. */
const HEADER = 5;
const LENGTH = 4;

const kinds = (letters: string): ReadonlySet<number> => new Set(Buffer.from(letters));
const KNOWN = kinds('RSKZEN123nsCDTtIAGHdcW');
/** The kinds that may be long, as PostgreSQL's own library has it; `t` has a number for each parameter. */
const LONG = kinds('DTtEANd');
const READ_WHOLE = kinds('REN');
const [AUTHENTICATION, READY] = Buffer.from('RZ');

/** What a short message holds at most, as in PostgreSQL's own library, and any at all: a gigabyte. */
const SHORT_BYTES = 30_000;
const MOST_BYTES = 0x3fffffff;

function bodyLength(header: Buffer): number {
  const kind = header[0] as number;
  const length = header.readUInt32BE(1);
  const most = LONG.has(kind) ? MOST_BYTES : SHORT_BYTES;
  const least = kind === READY ? LENGTH + 1 : LENGTH;
  if (!KNOWN.has(kind) || length < least || length > most) throw new UnknownAnswer();
  return length - LENGTH;
}

function requireReadable(kind: number, body: Buffer): void {
  if (kind === AUTHENTICATION) requireMethod(body);
  else requireFields(body);
}

/** By the number of each way to authenticate, how long its message is; null where that differs. */
const METHODS: ReadonlyMap<number, number | null> = new Map([
  [0, 4],
  [3, 4],
  [5, 8],
  [10, null],
  [11, null],
  [12, null],
]);

const NAMES: ReadonlyMap<number, string> = new Map([
  [2, 'Kerberos'],
  [6, 'SCM'],
  [7, 'GSSAPI'],
  [8, 'GSSAPI'],
  [9, 'SSPI'],
]);

function requireMethod(body: Buffer): void {
  if (body.length < 4) throw new UnknownAnswer();
  const method = body.readInt32BE(0);
  const length = METHODS.get(method);
  if (length === undefined) throw new UnknownMethod(NAMES.get(method) ?? `the method of number ${method}`);
  if (length !== null && body.length !== length) throw new UnknownAnswer();
}

/** Of an error or a notice: a letter and a text that ends with a zero, as often as there is one, and a zero. */
function requireFields(body: Buffer): void {
  let at = 0;
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1);
    if (end === -1) throw new UnknownAnswer();
    at = end + 1;
  }
  if (at !== body.length - 1) throw new UnknownAnswer();
}
