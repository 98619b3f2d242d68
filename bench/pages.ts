/**
 * Which pages a run writes, and what fewer of them would be worth. A run is a start and four steps, as in `bench:runs`.
 * First what its commits append to the log and what stays of it, by table and index: counts, which no load changes. Then
 * the time of a run on other layouts, turn by turn in one process, in shares of ours in the same turn.
 *
 *   npm run bench:pages            a minute
 *   npm run bench:pages -- tiny    only to see that it runs
 */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { databaseIn, emptyLog, LAYOUTS, type Layout } from './pages/layouts.ts';
import { logFrames, roomsOf } from './pages/logFrames.ts';
import { folder, median, print, seconds } from './transitions/measure.ts';
import type { Contender } from './wholeRuns/contender.ts';

const tiny = process.argv.includes('tiny');
const BEFORE = tiny ? 4 : 500;
/** So few that the log is not brought in meanwhile. */
const RUNS = tiny ? 2 : 40;
const TURNS = tiny ? 1 : 150;
const AT_A_TURN = tiny ? 1 : 4;
const COUNTED: readonly string[] = ['phasegate', 'pages of 1 KB', 'bare SQLite'];

for (const layout of LAYOUTS.filter(({ name }) => COUNTED.includes(name))) await count(layout);
await race();

/** What is in the log after the first runs were brought in. */
async function count({ name, open }: Layout): Promise<void> {
  const at = folder();
  const contender = await open(at);
  await contender.walk(BEFORE, tiny ? 1 : 32);
  emptyLog(databaseIn(at));
  await contender.walk(RUNS, 1);
  const log = join(at, 'log');
  copyFileSync(`${databaseIn(at)}-wal`, log);
  await contender.close();
  const commits = logFrames(log);
  const { owners, rooms } = roomsOf(databaseIn(at));
  rmSync(at, { recursive: true });
  const pages = new Map<string, number>();
  for (const page of commits.flat()) {
    const owner = owners.get(page) ?? 'free';
    pages.set(owner, (pages.get(owner) ?? 0) + 1);
  }
  const all = commits.flat().length / RUNS;
  print(`${name}: a run appends ${all.toFixed(1)} pages to the log, in ${commits.length / RUNS} commits`);
  for (const [owner, times] of [...pages].sort(([, one], [, other]) => other - one))
    print(`  ${(times / RUNS).toFixed(2).padStart(6)}  ${owner}`);
  const total = rooms.reduce((sum, { bytes }) => sum + bytes, 0) / (BEFORE + RUNS);
  print(`  at rest ${Math.round(total)} bytes a run`);
  for (const room of rooms) {
    const bytes = room.bytes / (BEFORE + RUNS);
    if (bytes * 100 < total) continue;
    const unused = Math.round(room.unused / (BEFORE + RUNS));
    print(`  ${String(Math.round(bytes)).padStart(6)}  ${room.name}, of which ${unused} hold nothing`);
  }
  print('');
}

interface Racing {
  readonly name: string;
  readonly at: string;
  readonly contender: Contender;
  readonly taken: number[];
}

async function race(): Promise<void> {
  for (const parallel of [1, 32]) {
    const racing: Racing[] = [];
    for (const { name, open } of LAYOUTS) {
      const at = folder();
      racing.push({ name, at, contender: await open(at), taken: [] });
    }
    for (const { contender } of racing) await contender.walk(BEFORE, parallel);
    for (let turn = 0; turn < TURNS; turn++) {
      // Once from the first to the last and once back: whatever comes or goes on the machine meets all alike.
      for (const { contender, taken } of turn % 2 === 0 ? racing : racing.toReversed()) {
        const runs = Math.max(AT_A_TURN, parallel);
        taken.push((await seconds(() => contender.walk(runs, parallel))) / runs);
      }
    }
    const [ours] = racing as [Racing];
    print(`${parallel} at a time, the middle of ${TURNS} turns`);
    for (const { name, at, contender, taken } of racing) {
      const share = median(taken.map((time, turn) => time / (ours.taken[turn] as number)));
      const microseconds = Math.round(median(taken) * 1e6);
      print(`  ${name.padEnd(24)} ${String(microseconds).padStart(6)} µs a run, ${share.toFixed(2)} of ours`);
      await contender.close();
      rmSync(at, { recursive: true });
    }
  }
}
