import type { DatabaseSync } from 'node:sqlite';
import {
  type Bundle,
  type BundledKey,
  type Bundling,
  type KeyedRow,
  writeBundle,
} from '@phasegate/audit/verify';
import { PhasegateError } from '@phasegate/core';
import type { Seal } from '../../runtime/ports.ts';
import { storeFault } from './faults.ts';
import { integer } from './statements.ts';
import { beginReading, openToRead, sqliteSource } from './verifySqlite.ts';

export { changedMeanwhile } from '@phasegate/audit/verify';

/** Writes the runs of a database that ended before a time to a bundle. Null where there is none. Changes nothing in it. */
export async function bundleRuns(from: string, bundling: Bundling): Promise<Bundle | null> {
  try {
    return await writeBundle(bundling, async (write) => {
      const database = openToRead(from);
      try {
        beginReading(database);
        const source = sqliteSource(database, bundling.seal);
        return await write({ source, rows: oldRows(database, bundling) });
      } finally {
        database.close();
      }
    });
  } catch (error) {
    throw storeFault(error, bundling.file);
  }
}

/** What is to be moved to a file that is written and verified. */
export interface Moving {
  readonly database: DatabaseSync;
  readonly file: string;
  readonly moved: readonly BundledKey[];
}

/**
 * Moves runs, some at a time: each slice is a transaction of its own, and between two of them there is time for others,
 * who would else wait for all of it, a server with everybody it serves.
 */
export async function moveInSlices(
  { database, file, moved }: Moving,
  move: (slice: readonly BundledKey[], texts: (key: number) => readonly number[]) => Promise<void>,
): Promise<void> {
  const texts = textsOf(database, moved);
  let done = 0;
  for (const slice of slicesOf(moved)) {
    if (done > 0) await new Promise((resume) => setTimeout(resume, PAUSE_MS));
    try {
      await move(slice, (key) => texts.get(key) ?? []);
    } catch (error) {
      throw done === 0 ? error : cutOff(error, { file, done, all: moved.length });
    }
    done += slice.length;
  }
}

/** Longer than a process waits between two looks whether a lock is free, when it has waited for one slice. */
const PAUSE_MS = 50;

/** A slice takes some ten milliseconds. */
const MOST_RUNS = 200;
const MOST_RECORDS = 2_000;

function* slicesOf(moved: readonly BundledKey[]): Generator<readonly BundledKey[]> {
  let slice: BundledKey[] = [];
  let records = 0;
  for (const run of moved) {
    const isFull = slice.length >= MOST_RUNS || records + run.head.seq > MOST_RECORDS;
    if (isFull && slice.length > 0) {
      yield slice;
      [slice, records] = [[], 0];
    }
    slice.push(run);
    records += run.head.seq;
  }
  if (slice.length > 0) yield slice;
}

/** The numbers of all texts of runs, which get no new ones: before anything is locked, as the whole table is looked through. */
function textsOf(
  database: DatabaseSync,
  moved: readonly BundledKey[],
): ReadonlyMap<number, readonly number[]> {
  const wanted = new Set(moved.map(({ key }) => key));
  const found = new Map<number, number[]>();
  for (const row of database.prepare('SELECT id, run FROM texts').iterate()) {
    const key = integer(row, 'run');
    if (!wanted.has(key)) continue;
    const ids = found.get(key);
    if (ids === undefined) found.set(key, [integer(row, 'id')]);
    else ids.push(integer(row, 'id'));
  }
  return found;
}

/** INVARIANT: once some runs are moved, the file is all there is of them, and nobody is told that it can be removed. */
function cutOff(
  cause: unknown,
  { file, done, all }: { readonly file: string; readonly done: number; readonly all: number },
): unknown {
  if (!(cause instanceof PhasegateError)) return cause;
  const hint = `${done} of ${all} runs are archived in \`${file}\`: keep it; the others are where they were, and archiving again moves them to another file`;
  return new PhasegateError(cause.code, cause.message, { hint, cause });
}

function* oldRows(
  database: DatabaseSync,
  { seal, before }: { readonly seal: Seal; readonly before: string },
): Generator<KeyedRow> {
  const found = database.prepare(OLD);
  found.setReadBigInts(true);
  const source = sqliteSource(database, seal);
  for (const key of found.all(before).map((row) => row.key as bigint)) {
    for (const row of source.rows({ first: key, last: key })) yield { key: Number(key), row };
  }
}

/** A call that is under way still has a record to come. */
const OLD = `SELECT key FROM runs WHERE status IN ('completed', 'stopped') AND updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.run = runs.id) ORDER BY key`;
