/**
 * Recorded runs decided again under a changed workflow, as `phasegate replay --all` does it.
 *
 *   npm run bench:replay             1,000 runs
 *   npm run bench:replay -- tiny     only to see that it runs
 *
 * The runs are made first, by the real runtime on a SQLite store on disk: five phases, refusals, tool calls, a human's
 * signed decisions, plans and reviews that are sent back. What is timed is reading every chain and deciding all of it
 * again; beside it, what reading alone takes.
 */
import { rmSync } from 'node:fs';
import { FLIPS, type ReplayKind, replayRun } from '@phasegate/proofs';
import { recordRuns } from './replay/recordedRuns.ts';
import { print, seconds } from './transitions/measure.ts';

const tiny = process.argv.includes('tiny');
const RUNS = tiny ? 20 : 1000;
const AIM = 60;

const recorded = await recordRuns(RUNS);
const { opened, project } = recorded;
recorded.change((definition) =>
  definition
    // Half of what a changed workflow can be: stricter where plans are wide, looser where reviews are, a tool less.
    .replace('length(plan.scope) <= params.max_files', 'length(plan.scope) <= 1')
    .replace('forbidden_tools: [git, away]', 'forbidden_tools: [git, grep, away]')
    .replace('on_false: IMPL', 'on_false: TDD'),
);

let records = 0;
const reading = await seconds(async () => {
  for await (const { records: chain } of opened.records.runs({ workflow: 'tdd' })) records += chain.length;
});

let runs = 0;
let decisions = 0;
const counts: Partial<Record<ReplayKind, number>> = {};
const replaying = await seconds(async () => {
  const { workflow: changed } = await project.catalog.load('tdd');
  const looking = await opened.records.lookingAgain();
  for await (const one of opened.records.runs({ workflow: 'tdd' })) {
    const report = await replayRun({ ...one, changed, ...looking });
    runs++;
    decisions += report.decisions;
    for (const [kind, count] of Object.entries(report.counts) as [ReplayKind, number][]) {
      counts[kind] = (counts[kind] ?? 0) + count;
    }
  }
});
await opened.close();
rmSync(recorded.base, { recursive: true });

print(`${runs} runs, ${decisions} decisions replayed in ${replaying.toFixed(2)} s (aim ${AIM} s)`);
print(
  `reading their ${records} records alone takes ${reading.toFixed(2)} s: replay is ${(replaying / reading).toFixed(2)} times that`,
);
print(
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', '),
);
if (runs !== RUNS) throw new Error(`${RUNS} runs were made and ${runs} replayed`);
if (FLIPS.every((flip) => !counts[flip]))
  throw new Error('nothing flipped, so nothing was decided under the change');
if ((counts.unrecorded ?? 0) + (counts.unknown ?? 0) > 0)
  throw new Error('something could not be decided again');
