import { median, print, ratio } from '../transitions/measure.ts';
import type { Loaded } from './load.ts';

/** What both servers are asked. */
export interface Rivals {
  readonly echo: () => Promise<Loaded>;
  readonly ours: () => Promise<Loaded>;
}

/** Both servers under the same load, in turn, so that a machine that slows down slows both. */
export async function compare(rounds: number, asked: Rivals): Promise<Compared> {
  const [compared] = await compareAll(rounds, [asked]);
  return compared as Compared;
}

/** The same under several loads, of each a round at a time: what one of them costs beside another is told by this alone. */
export async function compareAll(rounds: number, loads: readonly Rivals[]): Promise<readonly Compared[]> {
  const seen = loads.map(() => ({ echo: [] as Loaded[], ours: [] as Loaded[] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, asked] of loads.entries()) {
      seen[index]?.echo.push(await asked.echo());
      seen[index]?.ours.push(await asked.ours());
    }
  }
  return seen.map(({ echo, ours }) => {
    const share = median(ours.map(({ rate }, round) => rate / (echo[round]?.rate ?? 0)));
    return { echo: middle(echo), ours: middle(ours), share };
  });
}

/** What came of it: medians of the rounds. */
export interface Compared {
  readonly echo: Middle;
  readonly ours: Middle;
  /** Of the echo's rate. */
  readonly share: number;
}

/** Medians, and the slowest and the fastest round: the rate of one and the same server differs that much by itself. */
interface Middle extends Omit<Loaded, 'answers'> {
  readonly slowest: number;
  readonly fastest: number;
}

/** Three lines: the echo, ours, and what share of the echo that is. */
export function report(name: string, { echo, ours, share }: Compared, aim: string): void {
  print(`\n${name}`);
  print(`  bare node:http echo   ${line(echo)}`);
  print(`  phasegate             ${line(ours)}   ${ratio(share)} of the echo${aim}`);
}

function line({ rate, slowest, fastest, p50, p99 }: Middle): string {
  const perSecond = `${Math.round(rate)}/s`.padStart(8);
  return `${perSecond} (${Math.round(slowest)} to ${Math.round(fastest)})   p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms`;
}

function middle(rounds: readonly Loaded[]): Middle {
  const of = (pick: (loaded: Loaded) => number) => median(rounds.map(pick));
  const rates = rounds.map(({ rate }) => rate);
  return {
    rate: median(rates),
    slowest: Math.min(...rates),
    fastest: Math.max(...rates),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
  };
}
