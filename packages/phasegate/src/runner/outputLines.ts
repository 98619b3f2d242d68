import { StringDecoder } from 'node:string_decoder';

/** A line longer than this is cut, and is not a result: evidence is at most this large on every surface. */
export const LINE_LIMIT = 2 * 1024 * 1024;

/** Lines longer than this are shown in part. */
const SHOWN_LENGTH = 4000;
/** What a step prints beyond these many lines is not shown, only counted. */
const SHOWN_LINES = 20_000;

/** Text that comes in pieces, as lines; holds no more than a line and the last one. */
export interface OutputLines {
  push(chunk: Buffer): void;
  /** Ends the last line. */
  end(): void;
  /** The last line that is not blank; null when there was none. */
  last(): LastLine | null;
}

/** The last line, and whether it is whole. */
export interface LastLine {
  readonly text: string;
  readonly whole: boolean;
  /** An earlier line said something else of what came of the step. */
  readonly contradicts?: true;
}

/**
 * Splits output into lines and shows each. A line that may be a step's result is held back until another follows: it
 * is for the engine, and not worth reading.
 */
export function outputLines(
  show: (line: string) => void,
  options: { readonly holdResult: boolean },
): OutputLines {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let cut = false;
  let last: LastLine | null = null;
  let held: string | null = null;
  let shown = 0;
  let said: string | null = null;
  let contradicts = false;

  const tell = (line: string) => {
    shown += 1;
    if (shown <= SHOWN_LINES) show(line.length > SHOWN_LENGTH ? `${line.slice(0, SHOWN_LENGTH)}…` : line);
    else if (shown === SHOWN_LINES + 1) show(`(after ${SHOWN_LINES} lines the rest is not shown)`);
  };
  const take = (line: string) => {
    if (line.trim() === '') return;
    const result = options.holdResult && (cut || saysSuccess(line)) ? line.trim() : null;
    // For good: anyone who repeats the first line after another must not undo what that one said.
    if (result !== null && said !== null && said !== result) contradicts = true;
    last = { text: line, whole: !cut, ...(contradicts ? { contradicts } : {}) };
    said ??= result;
    cut = false;
    if (held !== null) tell(held);
    held = null;
    if (options.holdResult && line.trimStart().startsWith('{')) held = line;
    else tell(line);
  };
  return {
    push(chunk) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (rest.length > LINE_LIMIT) {
        rest = rest.slice(0, SHOWN_LENGTH);
        cut = true;
      }
    },
    end() {
      take(rest + decoder.end());
      rest = '';
    },
    last: () => last,
  };
}

/**
 * Also where something stands before it: anyone who ends their output without a line break must not be able to hide what
 * the command says next. A line that was cut may have said anything.
 */
function saysSuccess(line: string): boolean {
  // In JSON a letter may be written by its number, and `"\u0073uccess"` is the same key.
  const plain = line.replaceAll(/\\u00([67][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return /"success"\s*:\s*(?:true|false)/.test(plain);
}
