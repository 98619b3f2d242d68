import type { DatabaseSync } from 'node:sqlite';
import { leaseMac, nameOfLease, sameMac, tampered } from '@phasegate/audit';
import type { LeaseChange, LeaseKey, LeaseRecord, Seal } from '../../runtime/ports.ts';
import { createRowCache } from './rowCache.ts';
import { integer, lazily, type SqlRow, text, textOrNull } from './statements.ts';

/** The leases. Every tool call asks for one, so they are kept parsed. */
export interface LeaseTable {
  /** Throws `state_tampered` when the row does not match its seal. */
  current(run: string, item: string | null): LeaseRecord | undefined;
  /** All of them, or those of one agent. */
  all(agent?: string): readonly LeaseRecord[];
  /** The first so many. */
  some(limit: number): readonly LeaseRecord[];
  count(): number;
  ended(now: string): readonly LeaseKey[];
  change(change: LeaseChange): void;
  doubt(): void;
  committed(): void;
  discarded(): void;
}

/** Opens the table. */
export function openLeaseTable(database: DatabaseSync, seal: Seal): LeaseTable {
  const readMac = lazily(database, 'SELECT mac FROM leases WHERE run = ? AND item = ?');
  const readRow = lazily(database, 'SELECT * FROM leases WHERE run = ? AND item = ?');
  const readAll = lazily(database, 'SELECT * FROM leases ORDER BY run, item');
  const readSome = lazily(database, 'SELECT * FROM leases ORDER BY run, item LIMIT ?');
  const counted = lazily(database, 'SELECT count(*) AS leases FROM leases');
  const readOf = lazily(database, 'SELECT * FROM leases WHERE agent = ? ORDER BY run, item');
  const readEnded = lazily(database, LEASES_ENDED);
  const write = lazily(database, WRITE);
  const remove = lazily(database, 'DELETE FROM leases WHERE run = ? AND item = ?');
  const rows = createRowCache<Row>({
    read(key) {
      const found = readRow().get(...partsOf(key));
      return found && { lease: requireSealed(seal, found), mac: text(found, 'mac') };
    },
    unchanged(key, { mac }) {
      const found = readMac().get(...partsOf(key));
      return found !== undefined && text(found, 'mac') === mac;
    },
    keeps: () => true,
    // Who started a run itself has none, and every step asks.
    keepsAbsent: true,
    most: MOST_KEPT,
  });

  return {
    current: (run, item) => rows.current(keyOf(run, item))?.lease,
    all: (agent) =>
      (agent === undefined ? readAll().all() : readOf().all(agent)).map((row) => requireSealed(seal, row)),
    some: (limit) =>
      readSome()
        .all(limit)
        .map((row) => requireSealed(seal, row)),
    count: () => integer(counted().get() ?? {}, 'leases'),
    ended: (now) =>
      readEnded()
        .all(now)
        .map((row) => ({ run: text(row, 'run'), item: text(row, 'item') || null })),
    change(change) {
      if ('drop' in change) {
        const { run, item } = change.drop;
        remove().run(run, item ?? '');
        rows.change(keyOf(run, item), null);
        return;
      }
      const lease = change.put;
      const { run, item, agent, epoch, expiresAt, jti, previousJti } = lease;
      if (change.onlyHeld && rows.current(keyOf(run, item))?.lease.agent !== agent) return;
      const mac = leaseMac(seal, lease);
      write().run(run, item ?? '', agent, epoch, expiresAt, jti, previousJti, mac);
      rows.change(keyOf(run, item), { lease, mac });
    },
    doubt: rows.doubt,
    committed: rows.committed,
    discarded: rows.discarded,
  };
}

/** A lease from its row, and whether the row is sealed. */
export function storedLease(
  seal: Seal,
  row: SqlRow,
): { readonly lease: LeaseRecord; readonly sealed: boolean } {
  const item = text(row, 'item');
  const lease: LeaseRecord = {
    run: text(row, 'run'),
    item: item === '' ? null : item,
    agent: text(row, 'agent'),
    epoch: integer(row, 'epoch'),
    expiresAt: text(row, 'expires_at'),
    jti: textOrNull(row, 'jti'),
    previousJti: textOrNull(row, 'previous_jti'),
  };
  return { lease, sealed: sameMac(text(row, 'mac'), leaseMac(seal, lease)) };
}

/** Without the rows: anyone who reads one of them sees whether it is sealed. */
export const LEASES_ENDED = `SELECT run, item FROM leases INDEXED BY leases_by_end
  WHERE expires_at <= ? ORDER BY expires_at, run, item`;

/** A lease is small, and a server may have many agents at work on the items of many runs. */
const MOST_KEPT = 10_000;

const WRITE = `INSERT OR REPLACE INTO leases (run, item, agent, epoch, expires_at, jti, previous_jti, mac)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

interface Row {
  readonly lease: LeaseRecord;
  readonly mac: string;
}

function requireSealed(seal: Seal, row: SqlRow): LeaseRecord {
  const { lease, sealed } = storedLease(seal, row);
  if (!sealed) throw tampered(nameOfLease(lease));
  return lease;
}

/** The length keeps the two parts apart whatever is in them. */
function keyOf(run: string, item: string | null): string {
  return `${run.length}:${run}${item ?? ''}`;
}

function partsOf(key: string): readonly [run: string, item: string] {
  const start = key.indexOf(':') + 1;
  const end = start + Number(key.slice(0, start - 1));
  return [key.slice(start, end), key.slice(end)];
}
