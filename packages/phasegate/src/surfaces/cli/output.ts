import type { Writable } from 'node:stream';
import type { Environment } from './environment.ts';
import type { Paint } from './paint.ts';
import { inAscii, jsonInAscii, showsUnicode } from './text/ascii.ts';
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
  /** Whether what stands on the terminal beside the result may be drawn over: there is one, and nothing is JSON. */
  readonly live: boolean;
  /** The size of the terminal the result goes to, as it is now; null where that is none, or one that cannot redraw. */
  readonly screen: Screen | null;
  /** True once the reader has gone away (`| head`): nothing more can be said. */
  readonly closed: boolean;
}

/** A terminal's size. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** A stream that may be a terminal. */
export type MaybeTerminal = Writable & Partial<Screen> & { readonly isTTY?: boolean };

/** What is left that could not be written at once; null where the reader has gone away. Throws what is a fault. */
export type Straight = (text: string) => Uint8Array | null;

/** What an output is made from. */
export interface OutputOptions {
  /** Looked at when something is written that `straight` does not take: Node makes the stream then. */
  readonly stdout: MaybeTerminal;
  /** Writes a result at once, without a stream; absent where there is a terminal, or no descriptor to write to. */
  readonly straight?: Straight | undefined;
  /** Asked for when something is said beside the result, as Node makes the stream then. */
  stderr(): MaybeTerminal;
  /** That stderr is no terminal, where that is known without its stream. */
  readonly besideIsPlain?: boolean | undefined;
  readonly json: boolean;
  readonly paint: Paint;
  /** JSON for a human's eyes is indented. */
  readonly terminal: boolean;
  /** What kind of terminal there is; left out, one that shows everything. */
  readonly env?: Environment;
  /** Whether somebody sits at the terminal beside the result, also where the stream does not say so. */
  readonly attended?: () => boolean;
}

/** Makes the output of one call. */
export function makeOutput(options: OutputOptions): Output {
  const { stderr, json, paint, terminal, env = {}, attended = () => false, besideIsPlain = false } = options;
  const out = resultTo(options);
  const besideTerminal = () => (!besideIsPlain && stderr().isTTY === true) || attended();
  // A file or a program gets every character; a terminal, those it can show.
  const plain = !showsUnicode(env);
  const shown = (text: string) => (plain && terminal ? inAscii(text) : text);
  const said = (text: string) => (plain && besideTerminal() ? inAscii(text) : text);
  let beside: Pipe | undefined;
  const err = () => {
    beside ??= pipeTo(stderr());
    return beside;
  };
  const jsonOf = (value: object) => {
    const text = jsonText(value, terminal);
    return plain && terminal ? jsonInAscii(text) : text;
  };
  return {
    json,
    paint,
    result: (value, text) =>
      out.write(json ? jsonOf(value) : shown(withNewline(visible(text(), paint.mark)))),
    raw: (text) => out.write(text),
    log: (text) => err().write(said(withNewline(visible(text, paint.mark)))),
    line: (text) => err().write(said(text)),
    get width() {
      // A terminal that does not know says 0.
      return (besideIsPlain ? 0 : stderr().columns) || 80;
    },
    get live() {
      return !json && env.TERM !== 'dumb' && besideTerminal();
    },
    get screen() {
      if (!terminal || json || env.TERM === 'dumb') return null;
      return { columns: options.stdout.columns || 80, rows: options.stdout.rows || 24 };
    },
    get closed() {
      return out.closed();
    },
  };
}

interface Pipe {
  write(text: string | Uint8Array): Promise<void>;
  closed(): boolean;
}

/** Where results go: straight to the descriptor as long as it takes them, else to the stream. */
function resultTo(options: OutputOptions): Pipe {
  const { straight } = options;
  if (straight === undefined) return pipeTo(options.stdout);
  let stream: Pipe | undefined;
  let gone = false;
  return {
    closed: () => gone || stream?.closed() === true,
    async write(text) {
      if (gone) return;
      if (stream !== undefined || typeof text !== 'string') return stream?.write(text);
      const left = straight(text);
      gone = left === null;
      if (left === null || left.length === 0) return;
      stream = pipeTo(options.stdout);
      await stream.write(left);
    },
  };
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
      if (closed || text.length === 0) return Promise.resolve();
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
