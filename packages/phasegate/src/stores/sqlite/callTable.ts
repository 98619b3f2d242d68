import type { DatabaseSync } from 'node:sqlite';
import type { CallRecord, CallsOver, RunCalls } from '../../runtime/ports.ts';
import { createRowCache } from './rowCache.ts';
import { integer, lazily, type SqlRow, text } from './statements.ts';

/** The tool calls under way. They give nobody a right, so they are not sealed. Every step asks, so they are kept. */
export interface CallTable {
  of(run: string, item: string | null): RunCalls;
  begin(call: CallRecord): void;
  drop(run: string, id: string): void;
  askToEnd(run: string, id: string): void;
  /** Whether those are over that must be. */
  areOver(run: string, which: CallsOver): boolean;
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** Opens the table. */
export function openCallTable(database: DatabaseSync): CallTable {
  const read = lazily(database, 'SELECT * FROM calls WHERE run = ? ORDER BY id');
  const write = lazily(
    database,
    'INSERT INTO calls (run, id, item, tool, process, deadline, ending) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = lazily(database, 'DELETE FROM calls WHERE run = ? AND id = ?');
  const mark = lazily(database, 'UPDATE calls SET ending = 1 WHERE run = ? AND id = ?');
  const count = lazily(
    database,
    `INSERT INTO calls_begun (run, item, count) VALUES (?, ?, 1)
      ON CONFLICT (run, item) DO UPDATE SET count = count + 1`,
  );
  const readCounts = lazily(database, 'SELECT item, count FROM calls_begun WHERE run = ?');
  const rows = createRowCache<KeptCalls>({
    read: readCalls,
    unchanged: () => false,
    keeps: () => true,
    most: MOST_KEPT,
  });

  function readCalls(run: string): KeptCalls {
    const counts = readCounts().all(run);
    return {
      under: read().all(run).map(callOf),
      begun: new Map(counts.map((row) => [text(row, 'item'), integer(row, 'count')])),
    };
  }

  function of(run: string, item: string | null): RunCalls {
    const { under, begun } = rows.current(run) ?? NO_CALLS;
    if (item !== null) {
      return { under: under.filter((call) => call.item === item), begun: begun.get(item) ?? 0 };
    }
    let all = 0;
    for (const count of begun.values()) all += count;
    return { under, begun: all };
  }

  return {
    of,
    begin({ run, id, item, tool, process, deadline, ending }) {
      write().run(run, id, item ?? '', tool, process, deadline, ending ? 1 : 0);
      count().run(run, item ?? '');
      rows.change(run, readCalls(run));
    },
    drop(run, id) {
      remove().run(run, id);
      rows.change(run, readCalls(run));
    },
    askToEnd(run, id) {
      mark().run(run, id);
      rows.change(run, readCalls(run));
    },
    areOver(run, which) {
      const { under, begun } = of(run, which.item);
      if (which.begun !== undefined && which.begun !== begun) return false;
      return under.every(({ id }) => which.void.includes(id));
    },
    doubt: rows.doubt,
    committed: rows.committed,
    discarded: rows.discarded,
  };
}

/** Most runs have none, which takes little room; a full cache has more to do for each one that it is asked for. */
const MOST_KEPT = 10_000;

interface KeptCalls {
  readonly under: readonly CallRecord[];
  /** How many were ever begun, by item; those of no item under the empty one. */
  readonly begun: ReadonlyMap<string, number>;
}

const NO_CALLS: KeptCalls = { under: [], begun: new Map() };

function callOf(row: SqlRow): CallRecord {
  const item = text(row, 'item');
  return {
    id: text(row, 'id'),
    run: text(row, 'run'),
    item: item === '' ? null : item,
    tool: text(row, 'tool'),
    process: text(row, 'process'),
    deadline: text(row, 'deadline'),
    ending: integer(row, 'ending') === 1,
  };
}
