import type { CallRecord } from '@phasegate/core/ports';
import type { Query } from './database.ts';
import { integer, isStorable, type Row, text } from './rows.ts';

/** The calls of a run. */
export interface CallsOfRun {
  readonly under: readonly CallRecord[];
  /** How many were ever begun, by item; those of no item under the empty one. */
  readonly begun: ReadonlyMap<string, number>;
}

/** Reads the calls of some runs, as one statement sees them. */
export async function readCalls(
  query: Query,
  asked: readonly string[],
): Promise<ReadonlyMap<string, CallsOfRun>> {
  const found = new Map<string, { under: CallRecord[]; begun: Map<string, number> }>();
  const runs = [...new Set(asked)].filter(isStorable);
  if (runs.length === 0) return found;
  const { rows } = await query(CALLS, [runs]);
  for (const row of rows) {
    const run = text(row, 'run');
    const ofRun = found.get(run) ?? { under: [] as CallRecord[], begun: new Map<string, number>() };
    found.set(run, ofRun);
    if (row.count !== null) ofRun.begun.set(text(row, 'item'), integer(row, 'count'));
    else ofRun.under.push(callOf(row));
  }
  return found;
}

const CALLS = `SELECT run, id, item, tool, process, deadline, ending, NULL::bigint AS count
    FROM calls WHERE run = ANY($1)
  UNION ALL SELECT run, NULL, item, NULL, NULL, NULL, NULL, count FROM calls_begun WHERE run = ANY($1)
  ORDER BY run, id`;

function callOf(row: Row): CallRecord {
  return {
    id: text(row, 'id'),
    run: text(row, 'run'),
    item: text(row, 'item') || null,
    tool: text(row, 'tool'),
    process: text(row, 'process'),
    deadline: text(row, 'deadline'),
    ending: row.ending === true,
  };
}
