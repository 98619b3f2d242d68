import { countWithin, leavingOut, putBack } from '@phasegate/audit';
import type { AuditRecord, Json } from '@phasegate/core';
import type { FeedRecord, FeedStore, Reading } from '@phasegate/core/ports';
import { PROJECT } from './chains.ts';
import type { Database, Query } from './database.ts';
import { hex, integer, isStorable, type Row, text, textOrNull } from './rows.ts';
import { readParts } from './textParts.ts';

/** The audit of all chains as one stream. */
export function feedParts(database: Pick<Database, 'query'>): Omit<FeedStore, 'onCommit'> {
  const { query } = database;

  async function records(found: readonly Row[], reading: Reading = {}): Promise<readonly FeedRecord[]> {
    const { rows, whole } = await readAs(query, found, reading);
    return rows.map((row, index) => ({
      id: integer(row, 'place'),
      ...auditRecord(row, nameOfChain(row), whole[index] ?? null),
    }));
  }

  async function feedEnd(): Promise<number> {
    return integer((await query('SELECT place FROM heads')).rows[0] ?? {}, 'place');
  }

  /** The place behind which all is that was written then or later. Records stand by the time of their commits. */
  async function lastBefore(time: number): Promise<number> {
    let [low, high] = [0, await feedEnd()];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const { rows } = await query('SELECT place, time FROM audit WHERE place > $1 ORDER BY place LIMIT 1', [
        middle,
      ]);
      const [found] = rows;
      // Places of archived records are missing.
      if (found === undefined || Date.parse(text(found, 'time')) >= time) high = middle;
      else low = integer(found, 'place');
    }
    return low;
  }

  return {
    async feed(after, limit, reading) {
      return records((await query(FEED, [after, limit < 0 ? null : limit])).rows, reading);
    },
    async feedSince({ events, since, after, limit }) {
      const from = after ?? (await lastBefore(Date.parse(since)));
      return records((await query(FEED_OF, [from, events, limit])).rows);
    },
    feedEnd,
  };
}

/** Records of one chain in order. */
export async function chainPage(
  query: Query,
  run: string | null,
  { after, limit, ...reading }: { readonly after: number; readonly limit: number } & Reading,
): Promise<readonly AuditRecord[]> {
  if (run !== null && !isStorable(run)) return [];
  const most = limit < 0 ? null : limit;
  const found =
    run === null ? await query(PROJECT_CHAIN, [after, most]) : await query(CHAIN, [run, after, most]);
  const { rows, whole } = await readAs(query, found.rows, reading);
  return rows.map((row, index) => auditRecord(row, run, whole[index] ?? null));
}

/** The rows that are wanted of those that were found, and the texts of their data. */
async function readAs(
  query: Query,
  found: readonly Row[],
  reading: Reading,
): Promise<{ readonly rows: readonly Row[]; readonly whole: readonly (string | null)[] }> {
  const stored = found.map((row) => text(row, 'data'));
  const rows = found.slice(0, countWithin(stored, reading));
  if (reading.values === 'left_out') return { rows, whole: stored.slice(0, rows.length).map(leavingOut) };
  return { rows, whole: await wholeData(query, rows) };
}

/** The texts of the data of records, with all large values put back; null where one is missing or was changed. */
export async function wholeData(query: Query, rows: readonly Row[]): Promise<readonly (string | null)[]> {
  const parts = await readParts(
    query,
    rows.map((row) => ({ era: integer(row, 'era'), run: integer(row, 'run'), texts: [text(row, 'data')] })),
  );
  return rows.map((row) => putBack(text(row, 'data'), parts(integer(row, 'run'))));
}

/** A record from its row. */
export function auditRecord(row: Row, run: string | null, whole: string | null): AuditRecord {
  return {
    seq: integer(row, 'seq'),
    run,
    time: text(row, 'time'),
    principal: text(row, 'principal'),
    event: text(row, 'event'),
    data: dataOf(whole),
    prev: hex(row, 'prev'),
    hash: hex(row, 'hash'),
  };
}

/** Data from its text. What cannot be parsed, or put together, was edited: it becomes null, which no hash will fit. */
export function dataOf(data: string | null): Json {
  try {
    return data === null ? null : (JSON.parse(data) as Json);
  } catch {
    return null;
  }
}

/** The name of a chain whose run is gone: its number is all that is left of it. */
export function namelessChain(key: number): string {
  return `#${key}`;
}

function nameOfChain(row: Row): string | null {
  const key = integer(row, 'run');
  return key === PROJECT ? null : (textOrNull(row, 'name') ?? namelessChain(key));
}

const NAMED = 'SELECT a.*, r.id AS name FROM audit a LEFT JOIN runs r ON r.key = a.run';
const FEED = `${NAMED} WHERE a.place > $1 ORDER BY a.place LIMIT $2`;
const FEED_OF = `${NAMED} WHERE a.place > $1 AND a.event = ANY($2) ORDER BY a.place LIMIT $3`;
const PROJECT_CHAIN = 'SELECT * FROM audit WHERE era = 0 AND run = 0 AND seq > $1 ORDER BY seq LIMIT $2';
const CHAIN = `SELECT a.* FROM runs r JOIN audit a ON a.era = r.era AND a.run = r.key
  WHERE r.id = $1 AND a.seq > $2 ORDER BY a.seq LIMIT $3`;
