/**
 * Durable transitions per second of a five-phase run with a 1 KB artifact validated at each, beside bare `node:sqlite`
 * commits of the same bytes at the same durability; memory per 10,000 runs; and how soon a new process answers.
 *
 *   npm run bench            everything
 *   npm run bench -- quick   a tenth of the work
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncsPer } from './syncs.ts';
import { bareCommits } from './transitions/bareCommits.ts';
import { folder, median, print, ratio, seconds } from './transitions/measure.ts';
import { memoryPerRun } from './transitions/memory.ts';
import { resumeRatio } from './transitions/resume.ts';
import { openWorkload, samplePayloads } from './transitions/workload.ts';

const quick = process.argv.includes('quick');
const ROUNDS = 5;
const RUNS = quick ? 20 : 200;
const PARALLEL = 32;

const payloads = await samplePayloads();
const bytes =
  payloads.reduce((sum, payload) => sum + payload.state.length + payload.record.length, 0) / payloads.length;
print(
  `a transition writes ${Math.round(bytes)} bytes: the run's new state and one audit record; synchronous=FULL, WAL`,
);

const single = await compare(1);
const grouped = await compare(PARALLEL);
print(
  `\none at a time      bare ${rate(single.bare)}  phasegate ${rate(single.ours)}  ${ratio(single.ratio)} of bare (aim 80%), ${syncs(1)}; aim exactly 1 a transition`,
);
print(
  `${PARALLEL} at a time      bare ${rate(grouped.bare)}  phasegate ${rate(grouped.ours)}  ${ratio(grouped.ratio)} of bare group commits (aim 50%), ${syncs(PARALLEL)}; aim at most 1 in 16 transitions`,
);

const memory = await memoryPerRun(quick ? 1000 : 10_000);
print(
  `\n${memory.runs} runs started  heap ${kib(memory.heapPerRun)} a run, database ${kib(memory.diskPerRun)} a run`,
);

const resume = await resumeRatio(quick ? 5 : 25);
print(
  `\na run resumed in a new process answers its first transition in ${resume.ratio.toFixed(2)} times the time an empty ` +
    `Node process takes to open SQLite and commit once (aim 1.3): ${Math.round(resume.command)} ms against ${Math.round(resume.empty)} ms`,
);

async function compare(parallel: number): Promise<{ bare: number; ours: number; ratio: number }> {
  const bare: number[] = [];
  const ours: number[] = [];
  const count = RUNS * payloads.length * (parallel === 1 ? 1 : 4);
  // In turn, so that a disk that slows down slows both.
  for (let round = 0; round < ROUNDS; round++) {
    const bareFolder = folder();
    bare.push(count / (await seconds(() => bareCommits({ folder: bareFolder, payloads, count, parallel }))));
    rmSync(bareFolder, { recursive: true });
    const workload = await openWorkload();
    const runs = await workload.start(count / payloads.length);
    ours.push(count / (await seconds(() => workload.walk(runs, parallel))));
    await workload.close();
  }
  const ratios = bare.map((value, index) => (ours[index] as number) / value);
  return { bare: median(bare), ours: median(ours), ratio: median(ratios) };
}

/** Of ours and of bare SQLite; a run here has five transitions. */
function syncs(parallel: number): string {
  const alone = join(import.meta.dirname, 'transitions/alone.ts');
  const [ours, bare] = ['phasegate', 'bare'].map((name) =>
    syncsPer('run', parallel * 2, (runs) => [alone, name, String(runs), String(parallel)]),
  );
  return `${ours} of ${payloads.length} transitions (bare: ${bare})`;
}

function rate(value: number): string {
  return `${Math.round(value)}/s`.padStart(9);
}

function kib(bytesPerRun: number): string {
  return `${(bytesPerRun / 1024).toFixed(1)} KiB`;
}
