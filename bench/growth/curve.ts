import { median, print } from '../transitions/measure.ts';

/** What something cost at some size. */
export interface Point {
  readonly size: number;
  readonly milliseconds: number;
}

/** The middle of so many tries, in milliseconds. */
export async function timed(tries: number, act: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < tries; index++) {
    const start = process.hrtime.bigint();
    await act(index);
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return median(times);
}

/** Fits cost = size ^ exponent: 0 is flat, 1 is in proportion. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(({ size, milliseconds }) => [Math.log(size), Math.log(milliseconds)] as const);
  const mean = (pick: (log: readonly [number, number]) => number) =>
    logs.reduce((sum, log) => sum + pick(log), 0) / logs.length;
  const [x, y] = [mean(([size]) => size), mean(([, cost]) => cost)];
  const over = logs.reduce((sum, [size, cost]) => sum + (size - x) * (cost - y), 0);
  const under = logs.reduce((sum, [size]) => sum + (size - x) ** 2, 0);
  return over / under;
}

/** One line: the cost at each size, and how it grows. */
export function report(name: string, points: readonly Point[], aim?: number): void {
  const costs = points.map(({ size, milliseconds }) => `${size}: ${milliseconds.toFixed(2)} ms`.padStart(20));
  const aimed = aim === undefined ? '' : ` (aim under ${aim})`;
  print(`  ${name.padEnd(12)}${costs.join('')}   exponent ${exponentOf(points).toFixed(2)}${aimed}`);
}
