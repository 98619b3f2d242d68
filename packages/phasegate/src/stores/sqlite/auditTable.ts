import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { countWithin, leavingOut } from '@phasegate/audit';
import type { AuditRecord, Json } from '@phasegate/core';
import type { FeedRecord, FeedSince, Reading, SealedRecord } from '../../runtime/ports.ts';
import { bytes, hex, integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';
import type { TextTable } from './textTable.ts';

/** The chains, each by the number of its run. */
export interface AuditTable {
  /**
   * Appends to a chain. Some are held back: several rows at a time cost less. Nobody may read before `settle`. `stored`
   * has the texts of data with large values taken out, where there are any.
   */
  append(run: number, records: readonly SealedRecord[], stored?: readonly string[]): void;
  /** Writes what was held back; the last of a batch. */
  settle(): void;
  /** The batch never happened. */
  discarded(): void;
  page(
    chain: { readonly key: number; readonly run: string | null },
    page: { readonly after: number; readonly limit: number } & Reading,
  ): readonly AuditRecord[];
  /**
   * Records of all chains by their numbers. Records are only ever added, one writer after another, so the numbers have
   * no gaps and are in the order of the commits. A restored backup gives numbers out a second time.
   */
  feed(after: number, limit: number, reading?: Reading): readonly FeedRecord[];
  /** Those of certain events that were written then or later. */
  since(query: FeedSince): readonly FeedRecord[];
  /** The number of the newest record; 0 when there is none. */
  feedEnd(): number;
}

/** The project's own chain. */
export const PROJECT = 0;

/** Opens the table. */
export function openAuditTable(database: DatabaseSync, texts: Pick<TextTable, 'whole'>): AuditTable {
  const insert = lazily(database, `${INSERT} ${ROW}`);
  const insertMany = lazily(database, `${INSERT} ${new Array(AT_ONCE).fill(ROW).join(', ')}`);
  let held: SQLInputValue[] = [];
  const read = lazily(database, 'SELECT * FROM audit WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?');
  const readFeed = lazily(database, FEED);
  const readOf = lazily(database, FEED_OF);
  const readTime = lazily(database, 'SELECT id, time FROM audit WHERE id > ? ORDER BY id LIMIT 1');
  const newest = lazily(database, 'SELECT max(id) AS id FROM audit');
  return {
    append(key, records, stored) {
      for (const [index, { seq, time, principal, event, dataText, prev, hash }] of records.entries()) {
        const data = stored?.[index] ?? dataText;
        held.push(key, seq, storedTime(time), principal, event, data, bytes(prev), bytes(hash));
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
    page({ key, run }, { after, limit, ...reading }) {
      const whole = readAs(reading);
      return within(read().all(key, after, limit), reading).map((row) => auditRecord(row, run, whole));
    },
    feed(after, limit, reading = {}) {
      const whole = readAs(reading);
      return within(readFeed().all(after, limit), reading).map((row) => feedRecord(row, whole));
    },
    since({ events, since, after, limit }) {
      const from = after ?? lastBefore(Date.parse(since));
      return readOf()
        .all(from, JSON.stringify(events), limit)
        .map((row) => feedRecord(row, texts));
    },
    feedEnd,
  };

  function readAs({ values }: Reading): Pick<TextTable, 'whole'> {
    return values === 'left_out' ? WITHOUT_VALUES : texts;
  }

  function feedEnd(): number {
    return integer(newest().get() ?? {}, 'id');
  }

  /** The number behind which all is that was written then or later. Records stand by the time of their commits. */
  function lastBefore(time: number): number {
    let [low, high] = [0, feedEnd()];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = readTime().get(middle);
      // Numbers of archived records are missing.
      if (found === undefined || Date.parse(timeOf(found, 'time')) >= time) high = middle;
      else low = integer(found, 'id');
    }
    return low;
  }
}

const AT_ONCE = 8;
const COLUMNS = 8;
const INSERT = 'INSERT INTO audit (run, seq, time, principal, event, data, prev, hash) VALUES';
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)';
const FEED = `SELECT audit.*, runs.id AS name FROM audit LEFT JOIN runs ON runs.key = audit.run
  WHERE audit.id > ? ORDER BY audit.id LIMIT ?`;

/** In the order of the numbers, from one on: what is before is not read. */
export const FEED_OF = `SELECT audit.*, runs.id AS name FROM audit LEFT JOIN runs ON runs.key = audit.run
  WHERE audit.id > ? AND audit.event IN (SELECT value FROM json_each(?)) ORDER BY audit.id LIMIT ?`;

/** A record from its row. */
export function auditRecord(row: SqlRow, run: string | null, texts: Pick<TextTable, 'whole'>): AuditRecord {
  return {
    seq: integer(row, 'seq'),
    run,
    time: timeOf(row, 'time'),
    principal: text(row, 'principal'),
    event: text(row, 'event'),
    data: dataOf(texts.whole(text(row, 'data'))),
    prev: hex(row, 'prev'),
    hash: hex(row, 'hash'),
  };
}

const WITHOUT_VALUES: Pick<TextTable, 'whole'> = { whole: leavingOut };

function within(rows: readonly SqlRow[], reading: Reading): readonly SqlRow[] {
  if (reading.most === undefined) return rows;
  return rows.slice(
    0,
    countWithin(
      rows.map((row) => text(row, 'data')),
      reading,
    ),
  );
}

function feedRecord(row: SqlRow, texts: Pick<TextTable, 'whole'>): FeedRecord {
  return { id: integer(row, 'id'), ...auditRecord(row, nameOfChain(row), texts) };
}

/** The name of a chain whose run is gone: its number is all that is left of it. */
export function namelessChain(key: number | bigint): string {
  return `#${key}`;
}

function nameOfChain(row: SqlRow): string | null {
  const key = integer(row, 'run');
  return key === PROJECT ? null : (textOrNull(row, 'name') ?? namelessChain(key));
}

/** Milliseconds take a quarter of the room of a text, and nearly every time is one they say whole. */
function storedTime(time: string): bigint | string {
  if (time === lastTime.text) return lastTime.stored;
  const moment = Date.parse(time);
  const isWhole = Number.isFinite(moment) && new Date(moment).toISOString() === time;
  // A number would be stored as one with a fraction, in a column that takes anything.
  lastTime = { text: time, stored: isWhole ? BigInt(moment) : time };
  return lastTime.stored;
}

/** Records that are written together most often have one time. */
let lastTime: { readonly text: string; readonly stored: bigint | string } = { text: '', stored: '' };

/** The time in a column, as a text. */
export function timeOf(row: SqlRow, column: string): string {
  const time = row[column];
  if (typeof time !== 'number') return String(time);
  // A number that is no time was put there by somebody else, and fits no hash.
  return Math.abs(time) <= LATEST_TIME ? new Date(time).toISOString() : String(time);
}

const LATEST_TIME = 8.64e15;

/** Data from its text. What cannot be parsed, or put together, was edited: it becomes null, which no hash will fit. */
export function dataOf(data: string | null): Json {
  try {
    return data === null ? null : (JSON.parse(data) as Json);
  } catch {
    return null;
  }
}
