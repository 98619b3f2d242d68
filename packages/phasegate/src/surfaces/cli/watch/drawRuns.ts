import type { Environment } from '../environment.ts';
import type { Output, Screen } from '../output.ts';
import { showsUnicode } from '../text/ascii.ts';
import { visible } from '../text/visible.ts';
import { screenText } from './screenText.ts';
import type { WatchedRun } from './watchedRuns.ts';

/** The runs on the whole of a terminal, until it is given back. */
export interface RunsOnScreen {
  draw(runs: readonly WatchedRun[]): Promise<void>;
  /** Gives the terminal back as it was. */
  close(): Promise<void>;
}

/** Takes the terminal. What it showed before comes back when it is given back; ages are drawn anew every second. */
export async function drawRuns(out: Output, env: Environment, note: string | null): Promise<RunsOnScreen> {
  let runs: readonly WatchedRun[] | null = null;
  let written = out.raw(`${OTHER_SCREEN}${HIDE_CURSOR}${HOME}${CLEAR_BELOW}`);
  const unicode = showsUnicode(env);
  const draw = () => {
    const { screen } = out;
    if (screen === null || runs === null) return;
    const lines = screenText(runs, { screen, paint: out.paint, now: Date.now(), note, unicode });
    const frame = frameOf(
      lines.map((line) => visible(line, out.paint.mark)),
      screen,
    );
    written = written.then(() => out.raw(frame));
  };
  const timer = setInterval(draw, 1000).unref();
  return {
    async draw(found) {
      runs = found;
      draw();
      await written;
    },
    async close() {
      clearInterval(timer);
      // Also where the last frame could not be written.
      await written.catch(() => undefined);
      await out.raw(`${SHOW_CURSOR}${FIRST_SCREEN}`);
    },
  };
}

/** Every line is cleared behind itself, so that nothing flickers. */
function frameOf(lines: readonly string[], { rows }: Screen): string {
  const fitting = lines.slice(0, rows);
  return `${HOME}${fitting.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`;
}

const OTHER_SCREEN = '\u001b[?1049h';
const FIRST_SCREEN = '\u001b[?1049l';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
