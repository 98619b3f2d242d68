/**
 * Whole runs a second: a start and four steps, each durable, each with an artifact of about 1.2 KB that is validated.
 * Ours go through the real catalog and a workflow file. Beside us, in every round and each in a process of its own:
 * bare SQLite, LangGraph.js at both durable settings, and XState with SQLite.
 *
 *   npm run bench:runs            everything; about eight minutes
 *   npm run bench:runs -- quick   a third of the work
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installPeers } from './peers/install.ts';
import { syncsPer } from './syncs.ts';
import { median, print } from './transitions/measure.ts';
import { newEvidence, STEPS } from './wholeRuns/contender.ts';
import { CONTENDERS } from './wholeRuns/contenders.ts';

const quick = process.argv.includes('quick');
const ROUNDS = quick ? 3 : 5;
/** As long first without being counted: a server runs for long, and code that runs often is made fast meanwhile. */
const TIME = quick ? '1s' : '4s';
const RACE = join(import.meta.dirname, 'wholeRuns/race.ts');
/** A difference smaller than this is none: two rounds of the same contender differ by as much. */
const EQUAL = 1.3;
const AIMS: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  1: { 'bare SQLite': 0.6, 'LangGraph.js exit': 6, XState: 1 },
  32: { 'bare SQLite': 0.25, 'LangGraph.js exit': 12, XState: 3 },
};
/** Of one run at rest, audit included. */
const AIM_BYTES = 10_000;

installPeers('@langchain/langgraph');
print(
  `a run is a start and ${STEPS.length} steps with ${JSON.stringify(newEvidence()).length} bytes of evidence each, no two alike`,
);
for (const parallel of [1, 32]) compare(parallel);

function compare(parallel: number): void {
  const names = Object.keys(CONTENDERS);
  const results = new Map<string, Result[]>(names.map((name) => [name, []]));
  // In turn, so that a machine that slows down slows everybody.
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) results.get(name)?.push(race(name, parallel));
  }
  const ours = results.get('phasegate') ?? [];
  print(`\n${parallel} at a time`);
  for (const [name, theirs] of results) {
    const rate = `${Math.round(median(theirs.map((one) => one.rate)))} runs/s`.padStart(13);
    const bytes = `${kilobytes(median(theirs.map((one) => one.bytes)))} a run`.padStart(15);
    const cpu = `${median(theirs.map((one) => one.cpu)).toFixed(2)} ms of CPU`.padStart(17);
    const syncs = syncsPerRun(name, parallel).padStart(20);
    const share = median(ours.map((one, round) => one.rate / (theirs[round]?.rate ?? 0)));
    const compared = name === 'phasegate' ? '' : `  ours is ${inWords(share, AIMS[parallel]?.[name])}`;
    print(`  ${name.padEnd(18)}${rate}${cpu}${bytes}${syncs}${compared}`);
  }
  const atRest = median(ours.map((one) => one.bytes));
  print(`  at rest, audit included: ${kilobytes(atRest)} a run (aim at most ${kilobytes(AIM_BYTES)})`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}

function inWords(share: number, aim: number | undefined): string {
  const equal = share < EQUAL && share > 1 / EQUAL ? ', equal' : '';
  return `${share.toFixed(2)} times that${equal}${aim === undefined ? '' : ` (aim ${aim === 1 ? 'equal' : aim})`}`;
}

interface Result {
  readonly rate: number;
  /** Milliseconds of all threads. */
  readonly cpu: number;
  readonly bytes: number;
}

function race(name: string, parallel: number): Result {
  const words = [RACE, name, TIME, String(parallel), TIME];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
  return JSON.parse(stdout) as Result;
}

function syncsPerRun(name: string, parallel: number): string {
  return syncsPer('run', parallel * 2, (runs) => [RACE, name, String(runs), String(parallel), '0']);
}
