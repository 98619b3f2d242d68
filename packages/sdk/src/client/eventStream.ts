import { PhasegateClientError } from './PhasegateClientError.ts';

/** One message of a server-sent event stream. */
export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

/** Puts the lines of an event stream together to messages, however the bytes were cut. */
export interface StreamReader {
  /** The messages that are complete now. */
  push(text: string): readonly StreamMessage[];
  /** The newest id seen, also one that stood alone; empty before the first. */
  readonly lastId: string;
  /** How long the server wants clients to stay away after a cut, in milliseconds; null while it has not said. */
  readonly retryMs: number | null;
}

/** In characters; records are far smaller. */
const LARGEST_MESSAGE = 16 * 1024 * 1024;

/** Reads the text of an event stream (WHATWG HTML, section 9.2). */
export function createStreamReader(): StreamReader {
  let rest = '';
  let event = '';
  let data: string[] = [];
  let size = 0;
  let id = '';
  let lastId = '';
  let retryMs: number | null = null;

  const readLine = (line: string): StreamMessage | null => {
    if (line === '') return finish();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'data') {
      data.push(value);
      size += value.length;
    } else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value);
    return null;
  };
  const finish = (): StreamMessage | null => {
    const message = data.length === 0 ? null : { event: event || 'message', data: data.join('\n') };
    // Not before the blank line: a message that was cut off must be asked for again.
    lastId = id;
    event = '';
    data = [];
    size = 0;
    return message;
  };

  return {
    push(text) {
      rest += text;
      if (rest.length + size > LARGEST_MESSAGE) {
        throw new PhasegateClientError('too_large', 'a message of the event stream is too large');
      }
      // A CR at the very end may be half of a CRLF: it waits for what follows.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      return lines.map(readLine).filter((message) => message !== null);
    },
    get lastId() {
      return lastId;
    },
    get retryMs() {
      return retryMs;
    },
  };
}
