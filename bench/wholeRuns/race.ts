/** One contender in a process of its own: `race.ts NAME RUNS PARALLEL WARM`; prints what came of it as JSON. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { folder, seconds } from '../transitions/measure.ts';
import { CONTENDERS } from './contenders.ts';

const [name = '', runs = '', parallel = '', warm = ''] = process.argv.slice(2);
const open = CONTENDERS[name];
if (open === undefined) throw new Error(`there is no contender ${name}`);
const at = folder();
const contender = await open(at);
await contender.walk(Number(warm), Number(parallel));
const taken = await seconds(() => contender.walk(Number(runs), Number(parallel)));
await contender.close();
const bytes = sizeOf(at) / (Number(runs) + Number(warm));
rmSync(at, { recursive: true });
process.stdout.write(`${JSON.stringify({ rate: Number(runs) / taken, bytes })}\n`);

function sizeOf(place: string): number {
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.db(-wal)?$/.test(file))
    .reduce((sum, file) => sum + statSync(join(place, file)).size, 0);
}
