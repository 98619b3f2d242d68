/** One side of the comparison in a process of its own, so that its fsyncs can be counted: `alone.ts NAME RUNS PARALLEL`. */
import { rmSync } from 'node:fs';
import { bareCommits } from './bareCommits.ts';
import { folder } from './measure.ts';
import { openWorkload, PHASES } from './workload.ts';

const [name = '', runs = '', parallel = ''] = process.argv.slice(2);
const at = folder();
if (name === 'bare') {
  const payloads = PHASES.map(() => ({ state: 'x'.repeat(600), record: 'x'.repeat(1200) }));
  const count = Number(runs) * PHASES.length;
  await bareCommits({ folder: at, payloads, count, parallel: Number(parallel) });
  rmSync(at, { recursive: true });
} else {
  const workload = await openWorkload(at);
  // As many are started however many are walked, so that only the walk differs.
  const started = await workload.start(most());
  await workload.walk(started.slice(0, Number(runs)), Number(parallel));
  await workload.close();
}

function most(): number {
  return Number(parallel) * 4;
}
