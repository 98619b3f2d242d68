import { setTimeout as pause } from 'node:timers/promises';
import { PhasegateError } from '@phasegate/core';
import type { KeptRecord, Seal } from '@phasegate/core/ports';
import { type Batch, createBatch } from './batch.ts';
import { readCalls } from './callRows.ts';
import type { ChainParts, Mark } from './chains.ts';
import type { Database, Query } from './database.ts';
import {
  isOfNoServer,
  isOfTheWay,
  isRefusal,
  isWorthAnotherTry,
  mayBeOfOneWrite,
  storeFault,
  unavailable,
} from './faults.ts';
import { flush } from './flush.ts';
import { readKept } from './keptRows.ts';
import { type LeaseAsked, readLeases } from './leaseRows.ts';
import { LOCK } from './migrate.ts';
import type { Partitions } from './partitions.ts';
import { text, textOrNull } from './rows.ts';
import type { RunReader, RunRow } from './runReader.ts';
import type { Writable } from './writable.ts';

/** What a work must have read, and keeps others from writing, before it is done. */
export interface Needs {
  /** Runs that are read and locked. */
  readonly runs: readonly string[];
  readonly calls?: readonly string[];
  readonly leases?: readonly LeaseAsked[];
  readonly kept?: readonly Pick<KeptRecord, 'kind' | 'key'>[];
  /** A run that is to be made, and the month it is started in. */
  readonly made?: { readonly run: string; readonly era: number };
}

/** One caller's write. It is done in memory, on what was read for it, and may be done again from the start. */
export interface Work<T> {
  readonly needs: Needs;
  /** Whether it depends on which other runs there are; then nobody else makes or begins one until it is written. */
  contends?(batch: Batch): boolean;
  /** Reads what else it depends on; asked where it contends. */
  look?(query: Query): Promise<void>;
  act(batch: Batch): T;
}

/** Writes of many callers in one transaction: one wait for the disk, each answered after it. */
export interface Writer {
  submit<T>(work: Work<T>): Promise<T>;
  /** A write that is done by statements of its own, and by nobody else of this project at the same time. */
  alone<T>(work: (query: Query, batch: Batch) => Promise<T>): Promise<T>;
  /** Answers when all that waits is written. */
  settle(): Promise<void>;
}

/** What a writer is built from. */
export interface WriterParts {
  readonly database: Database;
  readonly seal: Seal;
  readonly reader: RunReader;
  readonly partitions: Partitions;
  readonly flushing: ChainParts;
  /** How many characters a transaction writes before whatever else waits is left to the next. */
  readonly largest: number;
  readonly writable: Pick<Writable, 'wrote' | 'failed'>;
  /** Something is committed. */
  done(): void;
}

/** Builds a writer: while one batch is on its way to the disk, the next is collected. */
export function createWriter(parts: WriterParts): Writer {
  const { database, seal, reader, partitions, flushing } = parts;
  const { shown, schema } = database.settings;
  const waiting: Waiting[] = [];
  let turning: Promise<void> | undefined;

  function enqueue<T>(work: Waiting['work']): Promise<T> {
    if (waiting.length >= MOST_WAITING) {
      const reason = `${waiting.length} writes wait for it already`;
      return Promise.reject(unavailable(shown, reason, { hint: 'try again later' }));
    }
    return new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      turning ??= turn();
    });
  }

  async function turn(): Promise<void> {
    // After the current turn: all that became ready with this write joins its batch.
    await new Promise((resume) => setImmediate(resume));
    try {
      while (waiting.length > 0) await commitAll(nextBatch());
    } finally {
      turning = undefined;
    }
  }

  /** As many as may go together; one that is to be alone waits for those before it. */
  function nextBatch(): readonly Waiting[] {
    const alone = waiting.findIndex(({ work }) => typeof work === 'function');
    if (alone === 0) return waiting.splice(0, 1);
    return waiting.splice(0, Math.min(MOST_AT_ONCE, alone < 0 ? waiting.length : alone));
  }

  /** INVARIANT: what one work throws fails no other: the others are done again without it. */
  async function commitAll(batch: readonly Waiting[]): Promise<void> {
    let left = batch;
    for (let tried = 1; left.length > 0; tried += 1) {
      const ended = await commitOnce(left);
      if (ended.ok) {
        const done = ended.answers.length;
        for (const [index, { resolve }] of left.slice(0, done).entries()) resolve(ended.answers[index]);
        parts.done();
        // What is left is large: no more of it is locked at a time than went into one transaction.
        for (let next = done; next < left.length; next += done)
          await commitAll(left.slice(next, next + done));
        return;
      }
      left = await afterFailure(left, ended, tried);
    }
  }

  /** Answers those who are at fault, or everybody; gives those that are to be done again. */
  async function afterFailure(
    left: readonly Waiting[],
    { error, guilty, again }: Failed,
    tried: number,
  ): Promise<readonly Waiting[]> {
    const fault = storeFault(error, shown);
    if (guilty !== undefined) {
      guilty.reject(fault);
      return left.filter((one) => one !== guilty);
    }
    const spent = tried >= MOST_TRIES;
    if (left.length > 1 && (again ? spent && !isOfTheWay(error) : mayBeOfOneWrite(error))) {
      // Nobody knows whose it was: each is tried by itself.
      for (const one of left) await commitAll([one]);
      return [];
    }
    if (!again || spent) {
      parts.writable.failed(fault);
      for (const { reject } of left) reject(fault);
      return [];
    }
    await pause(Math.random() * tried * 20);
    return left;
  }

  async function commitOnce(works: readonly Waiting[]): Promise<Ended> {
    let reached: Reached | undefined;
    let guilty: Waiting | undefined;
    try {
      await partitions.require(works.flatMap(({ work }) => (typeof work === 'function' ? [] : erasOf(work))));
      return await database.writing(async (query) => {
        // Sent together, and done in this order.
        const [, batch] = await Promise.all([query('BEGIN'), prepare(query, works)]);
        const answers: unknown[] = [];
        for (const waiting of works) {
          if (answers.length > 0 && batch.size() > parts.largest) break;
          guilty = waiting;
          const { work } = waiting;
          answers.push(typeof work === 'function' ? await work(query, batch) : work.act(batch));
        }
        guilty = undefined;
        const rows = () => [...batch.writes.runs.values()].map(({ row }) => row);
        const onReached = (mark: Mark | null) => {
          reached = { mark, answers, rows: rows() };
        };
        await flush(query, { writes: batch.writes, reached: onReached }, flushing);
        return committed({ answers, rows: rows(), mark: reached?.mark ?? null });
      });
    } catch (error) {
      // What a write throws itself fails that write alone; a failed statement of it is judged like any other.
      if (guilty !== undefined && (typeof guilty.work !== 'function' || error instanceof PhasegateError))
        return { ok: false, error, guilty, again: false };
      if (reached !== undefined && !isRefusal(error)) return await afterLostCommit(error, reached);
      return { ok: false, error, again: isWorthAnotherTry(error) || isOfTheWay(error) };
    }
  }

  function committed({ answers, rows, mark }: Reached): Ended {
    if (mark !== null) parts.writable.wrote();
    reader.committed(rows);
    return { ok: true, answers };
  }

  /** Nobody said what became of a commit that was on its way: only the database knows what became of it. */
  async function afterLostCommit(error: unknown, reached: Reached): Promise<Ended> {
    if (reached.mark === null) return { ok: false, error, again: true };
    for (let tried = 0; tried < MOST_TRIES; tried += 1) {
      try {
        const became = await whatBecameOf(database, reached.mark);
        if (became === 'committed') return committed(reached);
        if (became === 'aborted') return { ok: false, error, again: isOfNoServer(error) };
        if (became === 'unknowable') break;
      } catch {
        // It is not there yet, or not again.
      }
      await pause(100 * 2 ** tried);
    }
    const reason = 'the connection was lost while something was written, and it is not known whether it was';
    return {
      ok: false,
      error: unavailable(shown, reason, { cause: error, hint: 'look at the run before you try again' }),
      again: false,
    };
  }

  async function prepare(query: Query, works: readonly Waiting[]): Promise<Batch> {
    const plain = works.flatMap(({ work }) => (typeof work === 'function' ? [] : [work]));
    const needs = plain.map((work) => work.needs);
    const kept = needs.flatMap((need) => need.kept ?? []);
    const locks = kept.map(({ kind, key }) => `kept ${kind} ${key}`);
    if (plain.length < works.length) locks.push('project');
    // One that is alone may drop what is kept here: it waits, and is waited for.
    else if (kept.length > 0) await query(ADVISORY_SHARED, [LOCK, `${schema} project`]);
    // Before everything else, and in one order, so that no two nodes wait for each other.
    if (locks.length > 0)
      await query(ADVISORY, [LOCK, [...new Set(locks.map((lock) => `${schema} ${lock}`))].sort()]);
    const made = needs.flatMap((need) => need.made?.run ?? []);
    const runs = [...new Set([...needs.flatMap((need) => need.runs), ...made])];
    const calls = needs.flatMap((need) => need.calls ?? []);
    const leases = needs.flatMap((need) => need.leases ?? []);
    const [found, leased, called, keeping, archived] = await Promise.all([
      reader.find(query, runs, true),
      readLeases(query, seal, leases),
      readCalls(query, calls),
      readKept(query, seal, kept),
      archivedOf(query, made),
    ]);
    const batch = createBatch(seal, {
      runs: found,
      leases: leased,
      calls: called,
      kept: keeping,
      archived,
    });
    const contending = plain.filter((work) => work.contends?.(batch) === true);
    if (contending.length > 0) {
      await query(ADVISORY, [LOCK, [`${schema} places`]]);
      for (const work of contending) await work.look?.(query);
    }
    return batch;
  }

  return {
    submit: (work) => enqueue(work as Work<unknown>),
    alone: (work) => enqueue(work as (query: Query, batch: Batch) => Promise<unknown>),
    async settle() {
      await turning;
    },
  };
}

/** Nobody need wait for a batch to become larger than this. */
const MOST_AT_ONCE = 200;

/** Beyond it a caller is told at once, rather than made to wait. */
const MOST_WAITING = 5_000;

const MOST_TRIES = 6;

const ADVISORY = `SELECT pg_advisory_xact_lock(hashtextextended(name, $1)) FROM unnest($2::text[]) AS name`;

const ADVISORY_SHARED = 'SELECT pg_advisory_xact_lock_shared(hashtextextended($2, $1))';

interface Waiting {
  readonly work: Work<unknown> | ((query: Query, batch: Batch) => Promise<unknown>);
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How far a batch came before its commit. */
interface Reached {
  /** Null where nothing was written. */
  readonly mark: Mark | null;
  readonly answers: readonly unknown[];
  readonly rows: readonly RunRow[];
}

/** The answers are those of the first works: of all, unless they were too large for one transaction. */
type Ended = { readonly ok: true; readonly answers: readonly unknown[] } | Failed;

interface Failed {
  readonly ok: false;
  readonly error: unknown;
  readonly guilty?: Waiting;
  /** Whether it may go well when it is done again. */
  readonly again: boolean;
}

/** What the database says of a transaction, believed as far as it can be: see `Mark`. */
async function whatBecameOf(
  database: Pick<Database, 'query'>,
  { transaction, proof, server }: Mark,
): Promise<'committed' | 'aborted' | 'unknowable' | 'open'> {
  const { rows } = await database.query(WHAT_BECAME, [transaction, ...(proof ?? [null, null, null, null])]);
  const row = rows[0] ?? {};
  const status = textOrNull(row, 'status');
  if (status === 'aborted') return 'aborted';
  if (status !== 'committed') return 'open';
  if (proof !== null) return row.there === true ? 'committed' : 'aborted';
  return server !== null && server === textOrNull(row, 'server') ? 'committed' : 'unknowable';
}

const WHAT_BECAME = `SELECT pg_xact_status($1::text::xid8) AS status, pg_postmaster_start_time()::text AS server,
  EXISTS (SELECT 1 FROM audit WHERE era = $2::integer AND run = $3::bigint AND seq = $4::bigint AND hash = $5::bytea) AS there`;

function erasOf({ needs }: Work<unknown>): readonly number[] {
  return needs.made === undefined ? [] : [needs.made.era];
}

async function archivedOf(query: Query, runs: readonly string[]): Promise<ReadonlySet<string>> {
  if (runs.length === 0) return new Set();
  const { rows } = await query('SELECT run FROM archived WHERE run = ANY($1)', [runs]);
  return new Set(rows.map((row) => text(row, 'run')));
}
