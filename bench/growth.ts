/**
 * How costs grow with what is stored: a start with so many workflow files, acts on one run with so many runs under way, acts
 * on a run with so many completed phases or so many items, and `audit verify` with so many records. An exponent of 0 is flat, 1 is in proportion.
 *
 *   npm run bench:growth            up to 100 files, 100,000 runs, 2,000 completions, 10,000 items, 1,000,000 records; takes long
 *   npm run bench:growth -- quick   up to 10,000 runs, 1,000 completions, 100,000 records
 *   npm run bench:growth -- tiny    only to see that it runs
 */
import { report } from './growth/curve.ts';
import { costsWithFiles } from './growth/withFiles.ts';
import { costsWithHistory } from './growth/withHistory.ts';
import { costsWithItems } from './growth/withItems.ts';
import { verifyWithRecords } from './growth/withRecords.ts';
import { costsWithRuns } from './growth/withRuns.ts';
import { print } from './transitions/measure.ts';

const mode = ['tiny', 'quick'].find((word) => process.argv.includes(word)) ?? 'all';
const SIZES = {
  tiny: { files: [1, 3], history: [2, 20], items: [10, 40], runs: [2, 20], records: [100, 200] },
  quick: {
    files: [1, 10, 100],
    history: [10, 100, 1000],
    items: [10, 100, 1000, 10_000],
    runs: [100, 1000, 10_000],
    records: [10_000, 100_000],
  },
  all: {
    files: [1, 10, 100],
    history: [10, 100, 1000, 2000],
    items: [10, 100, 1000, 10_000],
    runs: [100, 1000, 10_000, 100_000],
    records: [10_000, 100_000, 1_000_000],
  },
}[mode as 'tiny' | 'quick' | 'all'];
const FLAT = 0.1;
const TRIES = mode === 'tiny' ? 2 : 25;

print('with so many workflow files');
const { first, start, transition, command } = await costsWithFiles(SIZES.files, TRIES);
report('start', start);
report('first', first);
report('transition', transition, FLAT);
const times = start.map(({ milliseconds }, index) =>
  (milliseconds / (transition[index]?.milliseconds ?? 0)).toFixed(2),
);
print(`  a start in a server takes ${times.join(', ')} times a transition (aim 1.5)`);
print(
  '  `first` is the first start of each workflow in the process, which compiles it; with one file, it also loads the loader',
);
report('a command', command, FLAT);

print('\nwith so many phases completed in the run');
const history = await costsWithHistory(SIZES.history, TRIES);
for (const [name, points] of history) report(name, points, FLAT);

print('\nwith so many items in the run');
const items = await costsWithItems(SIZES.items, TRIES);
for (const [name, points] of items) report(name, points, FLAT);

print('\nwith so many runs under way');
const runs = await costsWithRuns(SIZES.runs, TRIES);
for (const [name, points] of runs) report(name, points, FLAT);

print('\naudit verify, with so many records');
report('verify', await verifyWithRecords(SIZES.records));
print('  aim: 1,000,000 records in 15 s');
