import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of its own on the disk temporary files are on. */
export function folder(): string {
  return mkdtempSync(join(tmpdir(), 'phasegate-bench-'));
}

/** How long something takes. */
export async function seconds(work: () => unknown): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/** A share in percent. */
export function ratio(value: number): string {
  return `${Math.round(value * 100)}%`;
}

/** One line on stdout. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
