/**
 * One node in a process of its own, without HTTP: `node.ts FOLDER TEAM [DATABASE]`. The folder has the keys that nodes
 * share; without a database it is a file in it.
 */
import { join } from 'node:path';
import { openPostgresStore } from '@phasegate/postgres';
import { openInProcess } from '../check/inProcess.ts';
import { openWorkload, PHASES } from '../transitions/workload.ts';
import { contend } from './contender.ts';

const [at = '', team = '', database] = process.argv.slice(2);
const CHECKED_RUNS = 32;
const within = (schema: string) => `${database}?schema=${schema}`;

const walking = await openWorkload(join(at, 'transitions'), {
  team,
  ...(database === undefined
    ? {}
    : { open: (seal) => openPostgresStore({ url: within('transitions'), seal }) }),
});
const judging = await openInProcess(
  CHECKED_RUNS,
  join(at, 'checks'),
  database === undefined ? {} : { PHASEGATE_DATABASE: within('checks') },
);
let runs: readonly string[] = [];

contend({
  async prepare({ work, parallel, runs: each }) {
    if (work === 'transitions') runs = await walking.start(parallel * each);
  },
  async go({ work, parallel, seconds }) {
    if (work === 'transitions') {
      await walking.walk(runs, parallel);
      return runs.length * PHASES.length;
    }
    const end = performance.now() + seconds * 1000;
    let count = 0;
    for (; performance.now() < end; count += parallel * 8)
      await judging.judge(parallel * 8, { once: parallel, runs: CHECKED_RUNS });
    return count;
  },
  async close() {
    await walking.close();
    await judging.close();
  },
});
