import type { DatabaseSync } from 'node:sqlite';
import type { CallRecord, CallsOver, RunCalls } from '../../runtime/ports.ts';
import { integer, lazily, type SqlRow, text } from './statements.ts';

/** The tool calls under way. They give nobody a right, so they are not sealed. */
export interface CallTable {
  of(run: string, item: string | null): RunCalls;
  begin(call: CallRecord): void;
  drop(run: string, id: string): void;
  askToEnd(run: string, id: string): void;
  /** Whether those are over that must be. */
  areOver(run: string, which: CallsOver): boolean;
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

  function of(run: string, item: string | null): RunCalls {
    const under = read().all(run).map(callOf);
    const counts = readCounts().all(run);
    if (item === null) return { under, begun: counts.reduce((sum, row) => sum + integer(row, 'count'), 0) };
    const counted = counts.find((row) => text(row, 'item') === item);
    return {
      under: under.filter((call) => call.item === item),
      begun: counted === undefined ? 0 : integer(counted, 'count'),
    };
  }

  return {
    of,
    begin({ run, id, item, tool, process, deadline, ending }) {
      write().run(run, id, item ?? '', tool, process, deadline, ending ? 1 : 0);
      count().run(run, item ?? '');
    },
    drop: (run, id) => void remove().run(run, id),
    askToEnd: (run, id) => void mark().run(run, id),
    areOver(run, which) {
      const { under, begun } = of(run, which.item);
      if (which.begun !== undefined && which.begun !== begun) return false;
      return under.every(({ id }) => which.void.includes(id));
    },
  };
}

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
