/**
 * `phasegate audit verify` as a command over so many whole runs, each a start and four steps: how long it takes, and the
 * most memory it had, which must not grow with them.
 *
 *   npm run bench:verify             10,000 and 100,000 runs; making them takes some minutes
 *   npm run bench:verify -- quick    1,000 and 10,000 runs
 *   npm run bench:verify -- tiny     only to see that it runs
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folder, print, seconds } from './transitions/measure.ts';
import { openPhasegate } from './wholeRuns/phasegate.ts';

const COMMAND = join(import.meta.dirname, '../packages/phasegate/bin/phasegate.js');
const SIZES = process.argv.includes('tiny')
  ? [4]
  : process.argv.includes('quick')
    ? [1000, 10_000]
    : [10_000, 100_000];
const AIM = 'aim: 100,000 runs in 20 s, memory flat';

const at = folder();
let made = 0;
for (const size of SIZES) {
  const contender = await openPhasegate(at);
  const making = await seconds(() => contender.walk(size - made, 64));
  await contender.close();
  made = size;
  print(`${size} runs, made in ${making.toFixed(0)} s`);
  const words = [COMMAND, 'audit', 'verify', '--project', join(at, 'project')];
  const env = { ...process.env, XDG_STATE_HOME: join(at, 'state') };
  let most = 0;
  const taken = await seconds(async () => {
    const verify = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const look = setInterval(() => {
      most = Math.max(most, memoryOf(verify.pid ?? 0));
    }, 50);
    const [code] = await once(verify, 'exit');
    clearInterval(look);
    if (code !== 0) throw new Error(`audit verify exited with ${code}`);
  });
  print(`  verified in ${taken.toFixed(1)} s, at most ${Math.round(most / 1024)} MB (${AIM})`);
}
rmSync(at, { recursive: true });

/** In KB; 0 where there is no /proc. */
function memoryOf(pid: number): number {
  try {
    const [, most] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(most ?? 0);
  } catch {
    return 0;
  }
}
