/**
 * Where the time of whole runs goes: a start and four steps each, profiled once the code is warm. Self time by room,
 * that is by folder of the sources, and the functions with most of it. SQLite and its commits stand by themselves.
 *
 *   npm run bench:profile                 one at a time and 32 at a time, ten seconds each
 *   npm run bench:profile -- quick        two seconds each
 *   npm run bench:profile -- "bare SQLite"   another contender of bench:runs
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { byPlace } from './profile/byPlace.ts';
import { printShares } from './profile/printShares.ts';
import { folder, print } from './transitions/measure.ts';

const words = process.argv.slice(2);
const time = words.includes('tiny') ? '0.1s' : words.includes('quick') ? '2s' : '10s';
const [name = 'phasegate'] = words.filter((word) => word !== 'quick' && word !== 'tiny');
const RACE = join(import.meta.dirname, 'wholeRuns/race.ts');
const SHOWN = 25;

for (const parallel of [1, 32]) {
  const at = folder();
  const file = join(at, 'profile');
  const race = [RACE, name, time, String(parallel), time, file];
  const { status, stdout, stderr } = spawnSync(process.execPath, race, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const { runs, cpu } = JSON.parse(stdout) as { runs: number; cpu: number };
  const { rooms, functions, microseconds } = byPlace(JSON.parse(readFileSync(file, 'utf8')));
  rmSync(at, { recursive: true });
  print(
    `${name}, ${parallel} at a time: ${runs} runs, ${Math.round(microseconds / runs)} µs a run, of which the processor ` +
      `worked ${Math.round(cpu * 1000)} µs`,
  );
  printShares({ rooms, functions: functions.slice(0, SHOWN) }, { microseconds, count: runs });
}
