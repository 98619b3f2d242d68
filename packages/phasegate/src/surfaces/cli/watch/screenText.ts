import { goalAuthor } from '@phasegate/core/engine';
import { oneLine } from '@phasegate/core/model';
import type { Screen } from '../output.ts';
import type { Paint } from '../paint.ts';
import { inAscii } from '../text/ascii.ts';
import { paintStatus } from '../text/describeRun.ts';
import { columnsIn, shortened } from '../text/foreignLines.ts';
import { waitTitle } from './changes.ts';
import { hasEnded, type WatchedRun } from './watchedRuns.ts';

/** What a screen is drawn with. */
export interface Drawing {
  readonly screen: Screen;
  readonly paint: Paint;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** What is to be known beside the runs. */
  readonly note: string | null;
  /** Whether the terminal shows more than ASCII. */
  readonly unicode: boolean;
}

/**
 * The runs on one screen, the most urgent first, no line broken by the terminal but a command, which would be of no use
 * if it were cut. What finds no room is counted.
 */
export function screenText(runs: readonly WatchedRun[], drawing: Drawing): readonly string[] {
  const { screen, paint, note } = drawing;
  const foot = note === null ? [] : ['', paint.dim(shortened(note, screen.columns - 1))];
  const lines = [paint.bold(shortened(headline(runs), screen.columns - 1))];
  const room = screen.rows - foot.length - 1;
  const shown = [...runs.filter((run) => !hasEnded(run)), ...latest(runs)];
  for (const [index, run] of shown.entries()) {
    const block = ['', ...blockOf(run, drawing)];
    if (rowsOf([...lines, ...block], screen) > room) {
      lines.push(paint.dim(`and ${shown.length - index} more: phasegate runs`));
      break;
    }
    lines.push(...block);
  }
  return [...lines, ...foot];
}

/** Those that ended last. */
function latest(runs: readonly WatchedRun[]): readonly WatchedRun[] {
  return runs
    .filter(hasEnded)
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, ENDED);
}

const ENDED = 3;

function headline(runs: readonly WatchedRun[]): string {
  const alive = runs.filter((run) => !hasEnded(run));
  if (alive.length === 0) return 'no run is under way';
  const waiting = alive.filter(({ waits }) => waits !== null).length;
  const active = alive.filter(({ status }) => status === 'active').length;
  const queued = alive.filter(({ status }) => status === 'queued').length;
  const parts = [
    ...(waiting === 0 ? [] : [`${waiting} waiting for a human`]),
    ...(active === 0 ? [] : [`${active} active`]),
    ...(queued === 0 ? [] : [`${queued} queued`]),
  ];
  return `${alive.length === 1 ? '1 run' : `${alive.length} runs`}: ${parts.join(', ')}`;
}

function blockOf(run: WatchedRun, { screen, paint, now, unicode }: Drawing): readonly string[] {
  const room = screen.columns - 1;
  const fit = (text: string, columns: number) => shortened(unicode ? text : inAscii(text), columns);
  const within = (text: string) => `  ${fit(text, room - 2)}`;
  // What would be cut behind a label gets a line of its own.
  const labelled = (label: string, text: string) => {
    const whole = `${label}: ${text}`;
    return columnsIn(whole) <= room - 2
      ? [within(whole)]
      : [within(`${label}:`), `  ${fit(`| ${text}`, room - 2)}`];
  };
  const { status, waits, goal, target, phase } = run;
  const mark = waits === null ? '  ' : paint.yellow('! ');
  // The id is what every command takes: it is never cut.
  const beside = ` ${run.workflow}`;
  const left = room - 2 - run.run.length - status.length - 1;
  const workflow = left >= 4 ? fit(beside, left) : '';
  const lines = [`${mark}${paint.bold(run.run)} ${paintStatus(status, paint)}${workflow}`];
  const { overridden } = run;
  if (overridden !== undefined)
    lines.push(
      paint.red(within(overridden === 1 ? '1 phase overridden' : `${overridden} phases overridden`)),
    );
  if (goal !== undefined) lines.push(...labelled(`goal, ${goalAuthor(goal)}`, oneLine(goal.text)));
  if (target !== null) lines.push(...labelled('target', oneLine(target)));
  if (!hasEnded(run) && (phase !== null || run.agents.length > 0)) {
    lines.push(...inLines(placeOf(run, now), room - 2).map(within));
  }
  if (waits !== null) {
    lines.push(...labelled(waitTitle(run), oneLine(waits.says)).map((line) => paint.yellow(line)));
    lines.push(`  ${paint.cyan(waits.command)}`);
  }
  return lines;
}

function placeOf(
  { phase, agents, leaseUntil, waits, updatedAt }: WatchedRun,
  now: number,
): readonly string[] {
  const since = age(now - Date.parse(updatedAt));
  return [
    ...(phase === null ? [] : [`phase ${oneLine(String(phase))}`]),
    ...(agents.length === 0 ? [] : [`agent ${agents.map(oneLine).join(', ')}`]),
    // While a human is waited for, nobody's silence counts.
    ...(leaseUntil === null || waits !== null ? [] : [leaseText(Date.parse(leaseUntil) - now)]),
    waits === null ? `changed ${since} ago` : `waiting for ${since}`,
  ];
}

/** As many to a line as fit. */
function inLines(parts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const joined = `${lines.at(-1)}, ${part}`;
    if (lines.length > 0 && columnsIn(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

function leaseText(left: number): string {
  return left > 0 ? `lease ends in ${age(left)}` : `lease ended ${age(-left)} ago`;
}

function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

function rowsOf(lines: readonly string[], { columns }: Screen): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(columnsIn(line) / columns)), 0);
}
