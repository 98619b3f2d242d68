import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { AuditRecord, Json } from '@phasegate/core';
import type { FeedRecord, SealedRecord } from '../../runtime/ports.ts';
import { integer, lazily, type SqlRow, text } from './statements.ts';

/** The chains. The project's own has the empty name. */
export interface AuditTable {
  /** Some are held back: several rows at a time cost less. Nobody may read before `settle`. */
  append(records: readonly SealedRecord[]): void;
  /** Writes what was held back; the last of a batch. */
  settle(): void;
  /** The batch never happened. */
  discarded(): void;
  page(run: string | null, page: { readonly after: number; readonly limit: number }): readonly AuditRecord[];
  /**
   * Records of all chains by the number of their row. Records are only ever added, one writer after another, so the
   * numbers have no gaps and are in the order of the commits. A restored backup gives numbers out a second time.
   */
  feed(after: number, limit: number): readonly FeedRecord[];
  /** The number of the newest record; 0 when there is none. */
  feedEnd(): number;
}

/** Opens the table. */
export function openAuditTable(database: DatabaseSync): AuditTable {
  const insert = lazily(database, `${INSERT} ${ROW}`);
  const insertMany = lazily(database, `${INSERT} ${new Array(AT_ONCE).fill(ROW).join(', ')}`);
  let held: SQLInputValue[] = [];
  const read = lazily(database, 'SELECT * FROM audit WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?');
  const readFeed = lazily(
    database,
    'SELECT rowid AS id, * FROM audit WHERE rowid > ? ORDER BY rowid LIMIT ?',
  );
  const newest = lazily(database, 'SELECT max(rowid) AS id FROM audit');
  return {
    append(records) {
      for (const { run, seq, time, principal, event, dataText, prev, hash } of records) {
        held.push(run ?? '', seq, time, principal, event, dataText, prev, hash);
        if (held.length < AT_ONCE * COLUMNS) continue;
        insertMany().run(...held);
        held = [];
      }
    },
    settle() {
      for (let at = 0; at < held.length; at += COLUMNS) insert().run(...held.slice(at, at + COLUMNS));
      held = [];
    },
    discarded() {
      held = [];
    },
    page(run, { after, limit }) {
      return read()
        .all(run ?? '', after, limit)
        .map(auditRecord);
    },
    feed: (after, limit) =>
      readFeed()
        .all(after, limit)
        .map((row) => ({ id: integer(row, 'id'), ...auditRecord(row) })),
    feedEnd: () => integer(newest().get() ?? {}, 'id'),
  };
}

const AT_ONCE = 8;
const COLUMNS = 8;
const INSERT = 'INSERT INTO audit (run, seq, time, principal, event, data, prev, hash) VALUES';
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)';

/** A record from its row. Data that cannot be parsed was edited: it becomes null, which no hash will fit. */
export function auditRecord(row: SqlRow): AuditRecord {
  const run = text(row, 'run');
  return {
    seq: integer(row, 'seq'),
    run: run === '' ? null : run,
    time: text(row, 'time'),
    principal: text(row, 'principal'),
    event: text(row, 'event'),
    data: parse(text(row, 'data')),
    prev: text(row, 'prev'),
    hash: text(row, 'hash'),
  };
}

function parse(data: string): Json {
  try {
    return JSON.parse(data) as Json;
  } catch {
    return null;
  }
}
