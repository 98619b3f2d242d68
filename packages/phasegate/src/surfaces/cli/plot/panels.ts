import type { Simulation, StuckWhy, TimeKind } from '@phasegate/proofs';
import { rangeText, shareText } from './quantities.ts';

/** One of the pictures of a simulation: rows of bars. A bar over the whole width is all, in every panel. */
export interface Panel {
  readonly title: string;
  readonly rows: readonly Row[];
  /** What is said where there are no rows. */
  readonly otherwise: string;
}

/** One bar. */
export interface Row {
  readonly label: string;
  readonly share: number;
  readonly value: string;
  readonly tone: 'plain' | 'agent' | 'human' | 'stuck';
}

/** What time goes by with. */
export const SPENT: Readonly<Record<TimeKind, string>> = {
  work: 'work',
  gate: 'human gate',
  escalation: 'escalated, until resumed',
  questions: 'questions, until answered',
};

/** Why a run goes no further. */
export const STUCK: Readonly<Record<StuckWhy, string>> = {
  escalated: 'escalated',
  gate: 'nobody decides',
  loop: 'loop exhausted',
  bound: 'given up after too many steps',
};

const MOST_ROWS = 12;

/** How long runs take, where their time goes and where they get stuck, in the order they are drawn. */
export function panelsOf({ histogram, time, stranded, runs }: Simulation): readonly Panel[] {
  const ended = histogram.reduce((sum, bin) => sum + bin.runs, 0);
  const bar = (label: string, share: number, tone: Row['tone']): Row => {
    return { label, share, value: shareText(share), tone };
  };
  return [
    {
      title: `How long runs take (${ended} of ${runs} ended)`,
      rows: ranges(histogram).map(({ label, runs: some }) => bar(label, some / ended, 'plain')),
      otherwise: 'no run came to an end',
    },
    {
      title: 'Where their time goes',
      rows: time
        .filter(({ share }) => share > 0)
        .slice(0, MOST_ROWS)
        .map(({ phase, kind, share }) =>
          bar(`${phase}: ${SPENT[kind]}`, share, kind === 'work' ? 'agent' : 'human'),
        ),
      otherwise: 'nothing takes any time',
    },
    {
      title: 'Where runs get stuck',
      rows: stranded
        .filter(({ share }) => share > 0)
        .slice(0, MOST_ROWS)
        .map(({ phase, why, share }) => bar(`${phase}: ${STUCK[why]}`, share, 'stuck')),
      otherwise: 'no run does',
    },
  ];
}

/** The bins in which a run ended, in one unit; those too narrow to be told apart in words are one. */
function ranges(
  histogram: Simulation['histogram'],
): readonly { readonly label: string; readonly runs: number }[] {
  const merged: { label: string; runs: number }[] = [];
  // The last bin may be wider: it holds the few that took longest.
  const width = Math.min(...histogram.map(({ from, to }) => to - from));
  for (const { from, to, runs } of histogram) {
    if (runs === 0) continue;
    const label = rangeText(from, to, width);
    const last = merged.at(-1);
    if (last?.label === label) last.runs += runs;
    else merged.push({ label, runs });
  }
  return merged;
}
