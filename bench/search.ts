/**
 * The documentation index at 10,000 chunks: how long it takes to build, how large it is, and how soon a question is
 * answered, with the look at every file that precedes each search.
 *
 *   npm run bench:search            everything
 *   npm run bench:search -- quick   a tenth of the work
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStandards } from '@phasegate/search';
import { writeCorpus } from './search/corpus.ts';
import { folder, print, seconds } from './transitions/measure.ts';

const quick = process.argv.includes('quick');
const CHUNKS = quick ? 1000 : 10_000;

const root = folder();
const stateDir = folder();
const { queries, files } = writeCorpus(root, CHUNKS);
const open = () => openStandards({ root, stateDir, docs: [], env: {} });

let standards = open();
const build = await seconds(() => standards.sync({ rebuild: false }));
const { chunks, bytes } = await standards.sync({ rebuild: false });
await standards.close();
print(
  `${chunks} chunks of ${files} files  built in ${build.toFixed(2)} s, ${(bytes / 2 ** 20).toFixed(1)} MiB on disk`,
);

standards = open();
const opened = await seconds(() => standards.search({ query: queries[0] ?? '' }));
const unchanged = await seconds(() => standards.sync({ rebuild: false }));
writeFileSync(join(root, 'docs', 'changed.md'), '# Changed\n\nOne new document.\n');
const changed = await seconds(() => standards.sync({ rebuild: false }));
print(
  `first search of a process ${milliseconds(opened)}; sync without a change ${milliseconds(unchanged)}, with one file ${milliseconds(changed)}`,
);

report('query alone', await times((query) => standards.search({ query })));
report('with 8 terms', await times((query, terms) => standards.search({ query, terms })));
report('one tag of 20', await times((query) => standards.search({ query, tags: ['area-7'] })));
await standards.close();
for (const path of [root, stateDir]) rmSync(path, { recursive: true });

async function times(
  ask: (query: string, terms: readonly string[]) => Promise<unknown>,
): Promise<readonly number[]> {
  const taken: number[] = [];
  for (const [index, query] of queries.entries()) {
    const terms = (queries[(index + 1) % queries.length] ?? '').split(' ').slice(0, 4);
    taken.push(await seconds(() => ask(query, [...terms, ...query.split(' ').toReversed()].slice(0, 8))));
  }
  return taken.sort((one, other) => one - other);
}

function report(name: string, taken: readonly number[]): void {
  const at = (share: number) =>
    milliseconds(taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0);
  print(`${name.padEnd(14)} p50 ${at(0.5)}  p99 ${at(0.99)}  (${taken.length} searches)`);
}

function milliseconds(value: number): string {
  return `${(value * 1000).toFixed(1)} ms`;
}
