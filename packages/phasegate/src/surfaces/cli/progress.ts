import { quoteRest } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import type { RunnerProgress } from '../../runtime/ports.ts';
import type { Output } from './output.ts';
import { describeWaiting } from './text/describeWaiting.ts';
import { foreignLines } from './text/foreignLines.ts';
import { visible, visibleJson } from './text/visible.ts';

/** Tells how driving a run goes. */
export interface ProgressDisplay {
  report(progress: RunnerProgress): void;
  /** Takes away what stands on the terminal's last line; resolves when all is written. */
  end(): Promise<void>;
}

/** Where the time comes from. */
export interface Ticks {
  /** In milliseconds. */
  now(): number;
  /** Calls again and again until what it gives is called. */
  start(tick: () => void): () => void;
}

/**
 * On a terminal the last line says what runs or is waited for, and for how long; elsewhere every event is a plain
 * line, and with `--json` a JSON one. All of it goes to stderr: stdout holds the one result.
 */
export function showProgress(
  out: Output,
  { live, ticks = TICKS }: { readonly live: boolean; readonly ticks?: Ticks },
): ProgressDisplay {
  const doing = new Doing(ticks.now);
  const drawn = live && !out.json;
  let written: Promise<unknown> = Promise.resolve();
  let shown = false;
  let frame = 0;
  // A terminal that is gone or a full disk must not end the run: it is driven on, unseen.
  const write = (writing: Promise<void>) => {
    written = Promise.allSettled([written, writing]);
  };
  const clear = () => {
    if (shown) write(out.line(CLEAR));
    shown = false;
  };
  const draw = () => {
    const text = doing.text();
    if (text === null) return clear();
    frame = (frame + 1) % FRAMES.length;
    shown = true;
    // One that is too long would break, and only its last part could be cleared.
    write(out.line(`${CLEAR}${fitted(`${FRAMES[frame]} ${text}`, out.width - 1)}`));
  };
  // A terminal breaks a long line, and its rest would stand where only lines of ours may.
  const shownOf = (progress: RunnerProgress) =>
    drawn && progress.event === 'output'
      ? foreignLines(progress.line, out.width).join('\n')
      : lineOf(progress);
  const stop = drawn ? ticks.start(draw) : () => {};

  return {
    report(progress) {
      doing.note(progress);
      clear();
      write(out.log(out.json ? visibleJson(JSON.stringify(progress)) : shownOf(progress)));
      if (drawn) draw();
    },
    async end() {
      stop();
      clear();
      await written;
    },
  };
}

/** The machine's own. */
export const TICKS: Ticks = {
  now: () => performance.now(),
  start(tick) {
    const timer = setInterval(tick, 200).unref();
    return () => clearInterval(timer);
  },
};

const FRAMES = ['|', '/', '-', '\\'];
const CLEAR = '\r\u001B[K';

/** What goes on at the moment. */
class Doing {
  readonly #running = new Map<string, Since>();
  /** Who has to act before anything can run. */
  #awaited: Since | null = null;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(progress: RunnerProgress): void {
    const since = this.#now();
    switch (progress.event) {
      case 'step_started':
        this.#awaited = null;
        this.#running.set(keyOf(progress), { title: titleOf(progress), since });
        return;
      case 'step_ended':
        this.#running.delete(keyOf(progress));
        return;
      case 'prompt':
        this.#running.clear();
        this.#awaited = { title: `waiting for an agent to complete ${progress.phase}`, since };
        return;
      case 'waiting':
        this.#awaited = { title: 'waiting for a human', since };
        return;
      case 'output':
      case 'note':
        return;
    }
  }

  text(): string | null {
    const [first, ...more] = [...this.#running.values()];
    const shown = first ?? this.#awaited;
    if (shown === null) return null;
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    return `${shown.title}${others} (${clock(this.#now() - shown.since)})`;
  }
}

interface Since {
  readonly title: string;
  readonly since: number;
}

function keyOf({ phase, item }: StepEvent): string {
  return JSON.stringify([phase, item]);
}

type StepEvent = Extract<RunnerProgress, { event: 'step_started' | 'step_ended' }>;

function whichStep({ phase, item }: StepEvent): string {
  return item === null ? String(phase) : `${phase} [${oneLine(item)}]`;
}

function titleOf(step: Extract<RunnerProgress, { event: 'step_started' }>): string {
  return step.attempt > 1 ? `${whichStep(step)}, attempt ${step.attempt}` : whichStep(step);
}

function lineOf(progress: RunnerProgress): string {
  switch (progress.event) {
    case 'step_started':
      return `${titleOf(progress)}: ${progress.kind} started`;
    case 'output':
      return `  ${oneLine(progress.line)}`;
    case 'step_ended': {
      const how = progress.accepted ? 'done' : 'not accepted';
      const said = progress.message === '' ? '' : `: ${quoteRest(progress.message)}`;
      return `${whichStep(progress)}: ${how} after ${clock(progress.ms)}${said}`;
    }
    case 'prompt':
      return `\n${progress.text}\n`;
    case 'waiting':
      return describeWaiting(progress.what);
    case 'note':
      return quoteRest(progress.message);
  }
}

function fitted(text: string, width: number): string {
  const line = visible(text.replaceAll(/\s+/g, ' '), null);
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s` : `${minutes} min ${seconds % 60} s`;
}
