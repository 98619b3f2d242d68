import { own } from '@phasegate/core';
import { authorize, DELETE_NEEDS_TOKEN, type Leave, RECURSIVE_TRIGGERS, type Seen } from './authorize.ts';
import { createConfirmations } from './confirmations.ts';
import { type DeleteStatement, deleteStatement, plainValue } from './deleteStatement.ts';
import { type Bound, openRawDatabase, type RawStatement } from './rawDatabase.ts';
import { databaseFault, isBusy, refused } from './refused.ts';
import { requireOneStatement, requireText } from './requireOneStatement.ts';
import type { DatabaseParams, DatabaseRow, SafeDatabase, Where } from './safeDatabase.ts';
import { NO_TABLES, quoted, readTables, type Tables } from './tables.ts';

/** How to open a database for an author. */
export interface SafeDatabaseOptions {
  readonly writable: boolean;
  /** In milliseconds. */
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** How long a statement waits for other processes. */
  readonly busyMs?: number;
}

/**
 * Opens a database that is there for code that may make mistakes. SQLite itself asks, while it compiles a statement,
 * whether each part of it is allowed, so that no way of writing it makes a difference. What is returned is a frozen
 * object of closures: nothing reachable from it leads to the connection.
 */
export function openSafeDatabase(file: string, options: SafeDatabaseOptions): SafeDatabase {
  const { writable, busyMs = BUSY_MS } = options;
  const confirmations = createConfirmations(options);
  const reading: Leave = { write: writable };
  let leave: Leave = OPENING;
  let seen: Seen = { writes: false, deletes: 0 };
  let tables: Tables = NO_TABLES;
  let depth = 0;
  const known = new Map<string, RawStatement>();
  const raw = opened(file, () =>
    openRawDatabase(file, {
      writable,
      busyMs,
      ask: (asked) => (leave === OPENING ? null : authorize(asked, leave, { tables, seen })),
    }),
  );
  try {
    const mark = writable ? Buffer.from(options.randomBytes(8)).toString('hex') : null;
    raw.exec('PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY');
    tables = readTables(raw, mark);
    if (!tables.hasTriggers) raw.exec(`PRAGMA ${RECURSIVE_TRIGGERS}=ON`);
    leave = reading;
  } catch (error) {
    raw.close();
    throw databaseFault(error, file);
  }

  /** INVARIANT: no code of an author runs while anything but `reading` is allowed. */
  function allowing<Value>(more: Leave, work: () => Value): Value {
    leave = more;
    seen = { writes: false, deletes: 0 };
    try {
      return work();
    } catch (error) {
      const reason = raw.refusal();
      if (reason !== null) throw refused(reason);
      // SQLite's own protection of its tables comes before the authorizer.
      if (error instanceof Error && / may not be modified$/.test(error.message)) throw refused(error.message);
      throw isBusy(error) ? databaseFault(error, file) : error;
    } finally {
      leave = reading;
    }
  }

  function command(sql: string): void {
    allowing({ write: false, own: true }, () => raw.exec(sql));
  }

  function compile(sql: string, more: Leave): RawStatement {
    const statement = allowing(more, () => raw.prepare(sql));
    requireOneStatement(sql, statement.source);
    if (!seen.writes && more.deleteFrom === undefined) return statement;
    if (!tables.hasTriggers) return statement;
    // Once more as if triggers could call themselves, for the tripwires of `REPLACE`. Running it like that would
    // be wrong: a trigger that updates its own row would never end.
    command(`PRAGMA ${RECURSIVE_TRIGGERS}=ON`);
    try {
      allowing(more, () => raw.prepare(sql));
    } finally {
      command(`PRAGMA ${RECURSIVE_TRIGGERS}=OFF`);
    }
    return allowing(more, () => raw.prepare(sql));
  }

  function query<Value>(
    sql: unknown,
    params: DatabaseParams,
    step: (of: RawStatement, bound: Bound) => Value,
  ) {
    requireText(sql);
    const bound = boundOf(params);
    const statement = known.get(sql) ?? compile(sql, reading);
    remember(sql, statement);
    return allowing({ write: writable, running: true }, () => step(statement, bound));
  }

  /** Only what was allowed without any confirmation, and as little as a loop needs. */
  function remember(sql: string, statement: RawStatement): void {
    known.delete(sql);
    known.set(sql, statement);
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KNOWN) return;
      known.delete(oldest);
    }
  }

  function transaction<Value>(work: () => Value): Value {
    const level = depth;
    command(level === 0 ? (writable ? 'BEGIN IMMEDIATE' : 'BEGIN') : `SAVEPOINT phasegate_${level}`);
    depth += 1;
    try {
      const value = work();
      if (typeof own(value, 'then') === 'function' || value instanceof Promise) {
        // What becomes of it is not ours to tell; unheard, a rejection would end the process.
        Promise.resolve(value).catch(() => {});
        throw refused('a transaction cannot wait: its function must not be async');
      }
      command(level === 0 ? 'COMMIT' : `RELEASE phasegate_${level}`);
      return value;
    } catch (error) {
      // SQLite may have rolled back by itself, on a full disk for one.
      if (raw.isTransaction()) {
        command(level === 0 ? 'ROLLBACK' : `ROLLBACK TO phasegate_${level}; RELEASE phasegate_${level}`);
      }
      throw error;
    } finally {
      depth = level;
    }
  }

  function count(rows: string, params: DatabaseParams): number {
    return Number(
      own(
        query(`SELECT count(*) AS n FROM ${rows}`, params, (of, bound) => of.get(bound)),
        'n',
      ),
    );
  }

  function statementFor(table: unknown, where: Where): DeleteStatement {
    const name = [...tables.kinds.keys()].find(
      (known) => typeof table === 'string' && known.toLowerCase() === table.toLowerCase(),
    );
    if (name === undefined || tables.kinds.get(name) !== 'table') {
      throw refused(`there is no table \`${String(table)}\``);
    }
    const statement = deleteStatement(name, where);
    requireText(statement.rows);
    return statement;
  }

  function remove({ table, rows, params }: DeleteStatement, confirmed: number): number {
    const all = `main.${quoted(table)}`;
    const before = count(all, []);
    const more: Leave = { write: writable, deleteFrom: table };
    const statement = compile(`DELETE FROM ${rows}`, more);
    allowing({ ...more, running: true }, () => statement.run(params));
    // Counted in the table and not by SQLite, which leaves out what cascades and triggers delete.
    const gone = before - count(all, []);
    if (gone === confirmed) return gone;
    throw refused(`${confirmed} rows were confirmed, and ${gone} would go now; nothing was deleted`);
  }

  return Object.freeze({
    get: (sql: string, ...params: DatabaseParams) =>
      query(sql, params, (statement, bound) => statement.get(bound) as DatabaseRow | undefined),
    all: (sql: string, ...params: DatabaseParams) =>
      query(sql, params, (statement, bound) => statement.all(bound) as DatabaseRow[]),
    run: (sql: string, ...params: DatabaseParams) =>
      query(sql, params, (statement, bound) => {
        const { changes, lastInsertRowid } = statement.run(bound);
        return { changes: Number(changes), lastInsertRowid };
      }),
    transaction,
    getDeleteConfirmation(table: string, where: Where) {
      const { rows, params, hash } = statementFor(table, where);
      const found = count(rows, params);
      return { ...confirmations.issue(hash, found), count: found };
    },
    delete(table: string, where: Where, token?: string) {
      if (typeof token !== 'string' || token === '') throw refused(DELETE_NEEDS_TOKEN);
      const statement = statementFor(table, where);
      const confirmed = confirmations.redeem(token, statement.hash);
      return transaction(() => remove(statement, confirmed));
    },
    dropTable() {
      throw refused('DROP TABLE blocked. Use migrations system.');
    },
    truncateTable() {
      throw refused('TRUNCATE blocked. Use explicit DELETE with confirmation.');
    },
    deleteDatabase() {
      throw refused('Database deletion blocked.');
    },
    close: () => raw.close(),
  });
}

const BUSY_MS = 5000;
const MOST_KNOWN = 50;
/** Only until the schema was read, when no statement of an author's can have been given yet. */
const OPENING: Leave = { write: false };

function opened<Value>(file: string, open: () => Value): Value {
  try {
    return open();
  } catch (error) {
    throw databaseFault(error, file);
  }
}

/** Copies of the values, so that nothing of the author's is asked again once a statement may run. */
function boundOf(params: DatabaseParams): Bound {
  const [first, ...rest] = params;
  if (typeof first !== 'object' || first === null || first instanceof Uint8Array)
    return params.map(plainValue);
  const named = Object.entries(first).map(([name, value]) => [name, plainValue(value)] as const);
  return [Object.fromEntries(named), ...rest.map(plainValue)];
}
