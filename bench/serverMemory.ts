/**
 * What a real `phasegate serve` holds in memory: idle, and more for each run that an agent has claimed. What nobody uses
 * is cleared away before each look.
 *
 *   npm run bench:server-memory             3,000 runs; about a minute
 *   npm run bench:server-memory -- quick    600 runs
 *   npm run bench:server-memory -- tiny     only to see that it runs
 */
import { serve } from './http/served.ts';
import { watchMemory } from './http/watchMemory.ts';
import { print } from './transitions/measure.ts';
import { workflowText } from './wholeRuns/contender.ts';

const RUNS = process.argv.includes('tiny') ? 3 : process.argv.includes('quick') ? 600 : 3000;
const AIM_KB = 20;

const memory = watchMemory();
const served = await serve(workflowText(), memory);
// The first ones fill what is there for all.
await served.claim(Math.ceil(RUNS / 10));
const before = await memory.look(served.pid);
await served.claim(RUNS);
const after = await memory.look(served.pid);
await served.close();
memory.close();

const perRun = (what: 'used' | 'rss') => `${((after[what] - before[what]) / RUNS / 1024).toFixed(1)} KB`;
print(`the server holds ${megabytes(before.used)} and occupies ${megabytes(before.rss)} with few runs`);
print(
  `each of ${RUNS} more claimed runs: ${perRun('used')} held (aim ${AIM_KB} KB), ${perRun('rss')} occupied`,
);

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}
