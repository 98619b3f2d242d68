/**
 * One contender in a process of its own, which prints what came of it as JSON: `race.ts NAME WORK PARALLEL WARM [FILE]`.
 * WORK and WARM are a number of runs, or a time such as `3s`: code that runs often is made fast while it runs, and a
 * server runs for long. With FILE, what the processor did during WORK is written there for `bench:profile`.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { profiled } from '../profile/profiled.ts';
import { folder, seconds } from '../transitions/measure.ts';
import type { Contender } from './contender.ts';
import { CONTENDERS } from './contenders.ts';

const [name = '', work = '', parallel = '', warm = '', profile] = process.argv.slice(2);
const open = CONTENDERS[name];
if (open === undefined) throw new Error(`there is no contender ${name}`);
const at = folder();
const contender = await open(at);
const warmed = await walk(contender, warm);
const before = process.cpuUsage();
let runs = 0;
const taken = await seconds(() =>
  profiled(profile, async () => {
    runs = await walk(contender, work);
  }),
);
const { user, system } = process.cpuUsage(before);
const cpu = (user + system) / 1000 / runs;
await contender.close();
const bytes = sizeOf(at) / (runs + warmed);
rmSync(at, { recursive: true });
process.stdout.write(`${JSON.stringify({ rate: runs / taken, cpu, bytes, runs })}\n`);

/** Walks so many runs, or for so long; gives how many they were. */
async function walk(walking: Contender, amount: string): Promise<number> {
  const atOnce = Number(parallel);
  if (!amount.endsWith('s')) {
    await walking.walk(Number(amount), atOnce);
    return Number(amount);
  }
  const end = performance.now() + Number.parseFloat(amount) * 1000;
  const batch = atOnce * 8;
  let walked = 0;
  for (; performance.now() < end; walked += batch) await walking.walk(batch, atOnce);
  return walked;
}

function sizeOf(place: string): number {
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.db(-wal)?$/.test(file))
    .reduce((sum, file) => sum + statSync(join(place, file)).size, 0);
}
