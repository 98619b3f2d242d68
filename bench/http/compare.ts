import { median, print, ratio } from '../transitions/measure.ts';
import type { Loaded } from './load.ts';

/** Both servers under the same load, in turn, so that a machine that slows down slows both. */
export async function compare(
  rounds: number,
  asked: { readonly echo: () => Promise<Loaded>; readonly ours: () => Promise<Loaded> },
): Promise<Compared> {
  const echo: Loaded[] = [];
  const ours: Loaded[] = [];
  for (let round = 0; round < rounds; round++) {
    echo.push(await asked.echo());
    ours.push(await asked.ours());
  }
  const share = median(ours.map(({ rate }, round) => rate / (echo[round]?.rate ?? 0)));
  return { echo: middle(echo), ours: middle(ours), share };
}

/** What came of it: medians of the rounds. */
export interface Compared {
  readonly echo: Omit<Loaded, 'answers'>;
  readonly ours: Omit<Loaded, 'answers'>;
  /** Of the echo's rate. */
  readonly share: number;
}

/** Three lines: the echo, ours, and what share of the echo that is. */
export function report(name: string, { echo, ours, share }: Compared, aim: string): void {
  print(`\n${name}`);
  print(`  bare node:http echo   ${line(echo)}`);
  print(`  phasegate             ${line(ours)}   ${ratio(share)} of the echo${aim}`);
}

function line({ rate, p50, p99 }: Omit<Loaded, 'answers'>): string {
  const perSecond = `${Math.round(rate)}/s`.padStart(8);
  return `${perSecond}   p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms`;
}

function middle(rounds: readonly Loaded[]): Omit<Loaded, 'answers'> {
  const of = (pick: (loaded: Loaded) => number) => median(rounds.map(pick));
  return { rate: of(({ rate }) => rate), p50: of(({ p50 }) => p50), p99: of(({ p99 }) => p99) };
}
