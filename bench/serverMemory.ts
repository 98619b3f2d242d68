/**
 * What a real `phasegate serve` holds in memory: idle, and more for each run that an agent has claimed. What nobody uses
 * is cleared away before each look.
 *
 *   npm run bench:server-memory             3,000 runs; about a minute
 *   npm run bench:server-memory -- quick    600 runs
 *   npm run bench:server-memory -- tiny     only to see that it runs
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { serve } from './http/served.ts';
import { folder, print } from './transitions/measure.ts';
import { workflowText } from './wholeRuns/contender.ts';

const RUNS = process.argv.includes('tiny') ? 3 : process.argv.includes('quick') ? 600 : 3000;
const AIM_KB = 20;

const at = folder();
const file = join(at, 'memory');
const probe = join(import.meta.dirname, 'http/memoryProbe.mjs');
const served = await serve(workflowText(), {
  flags: ['--expose-gc', '--import', probe],
  env: { BENCH_MEMORY_FILE: file },
});
// The first ones fill what is there for all.
await served.claim(Math.ceil(RUNS / 10));
const before = await look();
await served.claim(RUNS);
const after = await look();
await served.close();
rmSync(at, { recursive: true });

const perRun = (what: 'used' | 'rss') => `${((after[what] - before[what]) / RUNS / 1024).toFixed(1)} KB`;
print(`the server holds ${megabytes(before.used)} and occupies ${megabytes(before.rss)} with few runs`);
print(
  `each of ${RUNS} more claimed runs: ${perRun('used')} held (aim ${AIM_KB} KB), ${perRun('rss')} occupied`,
);

interface Memory {
  readonly used: number;
  readonly rss: number;
}

async function look(): Promise<Memory> {
  rmSync(file, { force: true });
  process.kill(served.pid, 'SIGUSR2');
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Memory;
    } catch {
      // Not written yet.
      await wait(20);
    }
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
