import type { Output } from './output.ts';
import { TICKS, type Ticks } from './progress.ts';

/** Tells how far something is that may take long. */
export interface Work {
  /** What is done so far, in a few words; also for work that leaves no room for anything else. */
  report(done: string): void;
  /** Takes it away from the terminal. */
  end(): Promise<void>;
}

/**
 * Shows on a terminal what is under way, on its last line and beside the result, once it has taken a second. Elsewhere
 * nothing is shown.
 */
export function showWork(out: Output, title: string, ticks: Ticks = TICKS): Work {
  if (!out.live) return { report: () => undefined, end: async () => undefined };
  const since = ticks.now();
  let done = '';
  let written: Promise<unknown> = Promise.resolve();
  let shown = false;
  let last = 0;
  // A terminal that is gone must not end the work.
  const write = (text: string) => {
    written = Promise.allSettled([written, out.line(text)]);
  };
  const draw = () => {
    const now = ticks.now();
    if (now - since < PATIENCE_MS || (shown && now - last < REDRAW_MS)) return;
    last = now;
    shown = true;
    const text = `${title}${done === '' ? '' : `: ${done}`} (${Math.floor((now - since) / 1000)} s)`;
    // One that is too long would break, and only its last part could be cleared.
    write(`${CLEAR}${text.slice(0, Math.max(0, out.width - 1))}`);
  };
  const stop = ticks.start(draw);
  return {
    report(text) {
      done = text;
      draw();
    },
    async end() {
      stop();
      if (shown) write(CLEAR);
      await written;
    },
  };
}

/** The same around something. */
export async function working<T>(
  out: Output,
  title: string,
  act: (report: Work['report']) => T | Promise<T>,
): Promise<T> {
  const work = showWork(out, title);
  try {
    return await act(work.report);
  } finally {
    await work.end();
  }
}

/** What takes less is not worth a word. */
const PATIENCE_MS = 1000;
const REDRAW_MS = 100;
const CLEAR = '\r\u001B[K';
