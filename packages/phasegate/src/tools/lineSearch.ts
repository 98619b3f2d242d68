import { Worker } from 'node:worker_threads';
import { ToolFailure } from './defineTool.ts';

/** One line that matches. */
export interface FoundLine {
  readonly line: number;
  readonly text: string;
}

/** Finds lines in texts, at most `limit` of each. */
export interface LineSearch {
  find(text: string, limit: number): Promise<readonly FoundLine[]>;
  close(): Promise<void>;
}

/** How long one line of a result may be. */
const MAX_LINE = 500;

/** Finds a text as it stands. */
export function plainSearch(sought: string, ignoreCase: boolean): LineSearch {
  const wanted = ignoreCase ? sought.toLowerCase() : sought;
  return {
    async find(text, limit) {
      const searched = ignoreCase ? text.toLowerCase() : text;
      // Most files do not have it at all, and then there is no need for their lines.
      if (wanted.includes('\n') || !searched.includes(wanted)) return [];
      // A few letters have a longer small form: then a place in one text is none in the other.
      return searched.length === text.length
        ? linesAt(text, { searched, wanted, limit })
        : linesWith(text, wanted, limit);
    },
    close: async () => undefined,
  };
}

/** The lines around each place; no text is made of any other, as a file of line ends alone has millions. */
function linesAt(
  text: string,
  { searched, wanted, limit }: { readonly searched: string; readonly wanted: string; readonly limit: number },
): readonly FoundLine[] {
  const found: FoundLine[] = [];
  let [line, counted] = [1, 0];
  for (let at = searched.indexOf(wanted); at !== -1 && found.length < limit; ) {
    for (; counted < at; counted += 1) if (text.charCodeAt(counted) === LINE_END) line += 1;
    const begin = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
    const next = text.indexOf('\n', at);
    const end = next === -1 ? text.length : next;
    found.push({ line, text: text.slice(begin, Math.min(end, begin + MAX_LINE)) });
    at = next === -1 ? -1 : searched.indexOf(wanted, next + 1);
  }
  return found;
}

function linesWith(text: string, wanted: string, limit: number): readonly FoundLine[] {
  const found: FoundLine[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (found.length >= limit) break;
    if (line.toLowerCase().includes(wanted)) found.push({ line: index + 1, text: line.slice(0, MAX_LINE) });
  }
  return found;
}

const LINE_END = 0x0a;

/**
 * Finds a regular expression. It runs in a thread of its own that is ended when it takes too long: an expression can
 * be made to run for years, and here that would stop everybody's work.
 */
export function regexSearch(
  pattern: string,
  ignoreCase: boolean,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): LineSearch {
  const flags = ignoreCase ? 'iu' : 'u';
  try {
    new RegExp(pattern, flags);
  } catch (error) {
    throw new ToolFailure('input_invalid', `\`pattern\` cannot be read: ${(error as Error).message}`);
  }
  const worker = new Worker(THREAD, {
    eval: true,
    env: {},
    workerData: { pattern, flags, maxLine: MAX_LINE },
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const { promise: over, reject } = Promise.withResolvers<never>();
  const late = () =>
    reject(new ToolFailure('timed_out', '`pattern` takes too long on these files; make it simpler'));
  const timer = setTimeout(late, timeoutMs);
  const abort = () => reject(new ToolFailure('aborted', 'the search was ended before it was done'));
  signal.addEventListener('abort', abort, { once: true });
  worker.once('error', (cause) =>
    reject(new ToolFailure('search_failed', `the search broke: ${cause.message}`)),
  );
  // Nobody may be waiting when it comes.
  over.catch(() => undefined);
  return {
    find: (text, limit) =>
      Promise.race([
        over,
        new Promise<readonly FoundLine[]>((resolve) => {
          worker.once('message', resolve);
          worker.postMessage({ text, limit });
        }),
      ]),
    async close() {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      await worker.terminate();
    },
  };
}

const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const sought = new RegExp(workerData.pattern, workerData.flags);
parentPort.on('message', ({ text, limit }) => {
  const found = [];
  for (const [index, line] of text.split('\\n').entries()) {
    if (found.length >= limit) break;
    if (sought.test(line)) found.push({ line: index + 1, text: line.slice(0, workerData.maxLine) });
  }
  parentPort.postMessage(found);
});
`;
