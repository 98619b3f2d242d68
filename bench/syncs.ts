import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './transitions/measure.ts';

/**
 * How often the disk is waited for in one unit of work: counted by `strace` over a short piece of it and one twice as
 * long, whose difference leaves out opening and closing. In words where it cannot be counted.
 */
export function syncsPer(what: string, few: number, words: (units: number) => readonly string[]): string {
  const [short, long] = [few, few * 2].map((units) => syncs(words(units)));
  if (short === undefined || long === undefined) return 'fsyncs not counted';
  return `${((long - short) / few).toFixed(2)} fsyncs a ${what}`;
}

function syncs(words: readonly string[]): number | undefined {
  const at = folder();
  const file = join(at, 'trace');
  const traced = ['-f', '-qq', '-e', 'trace=fsync,fdatasync', '-e', 'signal=none', '-o', file];
  const { status } = spawnSync('strace', [...traced, process.execPath, ...words], { stdio: 'ignore' });
  const count = status === 0 ? (readFileSync(file, 'utf8').match(/sync\(\d+/g)?.length ?? 0) : undefined;
  rmSync(at, { recursive: true });
  return count;
}
