/**
 * Three real nodes on one real PostgreSQL, many agents, and faults: `npm run test:faults`. Prints the seed, what went
 * wrong and what was compared; ends with 1 where facts contradict each other.
 *
 *   npm run test:faults                                   100 agents, 60 faults, another seed each time
 *   npm run test:faults -- --seed 7                       the same faults again
 *   npm run test:faults -- --agents 20 --faults 8         as many
 */
import { mkdirSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SCRATCH } from '../scratch.ts';
import { faultRun } from './faultRun.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    agents: { type: 'string', default: '100' },
    faults: { type: 'string', default: '60' },
    waiting: { type: 'string', default: '100' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const size = {
  seed,
  agents: Number(values.agents),
  faults: Number(values.faults),
  waiting: Number(values.waiting),
};
for (const [name, number] of Object.entries(size)) {
  if (Number.isInteger(number) && number >= 0) continue;
  console.error(`\`--${name}\` must be a whole number`);
  process.exit(2);
}
/** What hangs is a failure like any other. */
const LONGEST_MS = 570_000;

console.log(
  `seed ${seed}: ${size.agents} agents, ${size.faults} faults, 3 nodes, clocks of 2 of them wrong by an hour`,
);
mkdirSync(SCRATCH, { recursive: true, mode: 0o700 });
process.env.TMPDIR = SCRATCH;
try {
  const begun = performance.now();
  const result = await faultRun({
    ...size,
    longestMs: LONGEST_MS,
    tell: (line) => console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${line}`),
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  const answers = Map.groupBy(result.acts, ({ asked, answered }) => `${asked.kind}: ${answered.kind}`);
  console.log(
    `${result.runs} runs, ${result.records} records, ${result.acts.length} questions in ${seconds} s`,
  );
  for (const [kind, some] of [...answers].sort())
    console.log(`  ${String(some.length).padStart(7)}  ${kind}`);
  console.log('faults:');
  for (const [kind, count] of result.faults) console.log(`  ${String(count).padStart(7)}  ${kind}`);
  console.log('facts that hold:');
  for (const [kind, count] of result.facts) console.log(`  ${String(count).padStart(7)}  ${kind}`);
  for (const text of result.contradictions.slice(0, 50)) console.error(`CONTRADICTION  ${text}`);
  const { length } = result.contradictions;
  console.log(length === 0 ? `seed ${seed}: nothing contradicts` : `seed ${seed}: ${length} contradictions`);
  if (length > 0) process.exitCode = 1;
} catch (error) {
  console.error(`seed ${seed}: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
} finally {
  rmSync(SCRATCH, { recursive: true, force: true, maxRetries: 10 });
}
// Agents of a run that did not come to its end still ask.
process.exit();
