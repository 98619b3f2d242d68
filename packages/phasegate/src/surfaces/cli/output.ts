import type { Writable } from 'node:stream';
import type { Paint } from './paint.ts';
import { visible, visibleJson } from './text/visible.ts';

/** Where a command's words go: the one result on stdout, everything else on stderr. */
export interface Output {
  readonly json: boolean;
  readonly paint: Paint;
  /** The command's result: the value with `--json`, else the text. */
  result(value: object, text: () => string): Promise<void>;
  /** Bytes for another program (a graph, NDJSON), as they are. */
  raw(text: string): Promise<void>;
  /** A line beside the result. */
  log(text: string): Promise<void>;
  /** Bytes for the terminal beside the result, without a line's end. */
  line(text: string): Promise<void>;
  /** Of the terminal beside the result, in columns. */
  readonly width: number;
  /** True once the reader has gone away (`| head`): nothing more can be said. */
  readonly closed: boolean;
}

/** What an output is made from. */
export interface OutputOptions {
  readonly stdout: Writable;
  /** Asked for when something is said beside the result, as Node makes the stream then. */
  stderr(): Writable & { readonly columns?: number };
  readonly json: boolean;
  readonly paint: Paint;
  /** JSON for a human's eyes is indented. */
  readonly terminal: boolean;
}

/** Makes the output of one call. */
export function makeOutput({ stdout, stderr, json, paint, terminal }: OutputOptions): Output {
  const out = pipeTo(stdout);
  let beside: Pipe | undefined;
  const err = () => {
    beside ??= pipeTo(stderr());
    return beside;
  };
  return {
    json,
    paint,
    result: (value, text) =>
      out.write(json ? jsonText(value, terminal) : withNewline(visible(text(), paint.mark))),
    raw: (text) => out.write(text),
    log: (text) => err().write(withNewline(visible(text, paint.mark))),
    line: (text) => err().write(text),
    get width() {
      // A terminal that does not know says 0.
      return stderr().columns || 80;
    },
    get closed() {
      return out.closed();
    },
  };
}

interface Pipe {
  write(text: string): Promise<void>;
  closed(): boolean;
}

function pipeTo(stream: Writable): Pipe {
  let closed = false;
  // A reader that has gone away is its own business: no fault, no noise.
  const gone = (error: NodeJS.ErrnoException) =>
    error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (gone(error)) closed = true;
  });
  return {
    closed: () => closed,
    write: (text) => {
      if (closed || text === '') return Promise.resolve();
      return new Promise((resolve, reject) => {
        stream.write(text, (error) => {
          if (!error) return resolve();
          if (!gone(error)) return reject(error);
          closed = true;
          resolve();
        });
      });
    },
  };
}

function jsonText(value: object, terminal: boolean): string {
  return `${visibleJson(JSON.stringify(value, null, terminal ? 2 : undefined))}\n`;
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
