import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { refused } from './refused.ts';

/** What SQLite asks before it compiles a part of a statement. Null: allowed; otherwise why not. */
export type Ask = (asked: Asked) => string | null;

/** One question of SQLite's authorizer. */
export interface Asked {
  /** One of SQLite's action codes. */
  readonly action: number;
  readonly first: string | null;
  readonly second: string | null;
  /** `main`, `temp` or what was attached. */
  readonly schema: string | null;
  /** The trigger or view the part is in. */
  readonly within: string | null;
}

/** A value SQLite can bind. */
export type Bound = readonly (SQLInputValue | Record<string, SQLInputValue>)[];

/** A compiled statement. */
export interface RawStatement {
  /** The text SQLite took, which ends where the first statement does. */
  readonly source: string;
  get(params: Bound): unknown;
  all(params: Bound): unknown[];
  run(params: Bound): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
}

/** A connection that asks before it compiles. */
export interface RawDatabase {
  prepare(sql: string): RawStatement;
  exec(sql: string): void;
  /** Why the last statement was not compiled or run; null where SQLite refused it for reasons of its own. */
  refusal(): string | null;
  isTransaction(): boolean;
  close(): void;
}

/** Opens a file that is there, with SQLite's own protections on and every statement asked about. */
export function openRawDatabase(
  file: string,
  { writable, ask, busyMs }: { readonly writable: boolean; readonly ask: Ask; readonly busyMs: number },
): RawDatabase {
  requireAuthorizer(setAuthorizer);
  const place = pathToFileURL(file);
  // SQLite would make a file that is not there.
  place.searchParams.set('mode', writable ? 'rw' : 'ro');
  const handle = new Connection(place, {
    readOnly: !writable,
    timeout: busyMs,
    defensive: true,
    enableForeignKeyConstraints: true,
    limits: { attach: 0, length: MAX_VALUE_BYTES, sqlLength: MAX_SQL_BYTES },
  });
  let refusal: string | null = null;
  apply(setAuthorizer, handle, [
    (
      action: number,
      first: string | null,
      second: string | null,
      schema: string | null,
      within: string | null,
    ) => {
      const reason = ask({ action, first, second, schema, within });
      // The first reason is the one to tell; SQLite may go on asking.
      refusal ??= reason;
      return reason === null ? ALLOWED : DENIED;
    },
  ]);
  return {
    prepare(sql) {
      refusal = null;
      const statement = apply(prepare, handle, [sql]);
      return {
        source: statement.sourceSQL,
        get: (params) => apply(get, statement, params),
        all: (params) => apply(all, statement, params),
        run: (params) => apply(run, statement, params),
      };
    },
    exec(sql) {
      refusal = null;
      apply(exec, handle, [sql]);
    },
    refusal: () => refusal,
    isTransaction: () => handle.isTransaction,
    close: () => apply(close, handle, []),
  };
}

/** Refuses a Node whose SQLite cannot be asked before it compiles: there would be nothing to hold statements back. */
export function requireAuthorizer(found: unknown): void {
  if (typeof found === 'function') return;
  throw refused(
    `the protected database needs a Node whose SQLite has \`setAuthorizer\`; this is ${process.version}`,
    'use Node 24 or later',
  );
}

const ALLOWED = 0;
const DENIED = 1;
const MAX_VALUE_BYTES = 256 * 1024 * 1024;
const MAX_SQL_BYTES = 1_000_000;

// Taken once, before any code of an author has run: methods replaced later would be handed the connection.
const { apply } = Reflect;
const Connection = DatabaseSync;
const { prepare, exec, close, setAuthorizer } = Connection.prototype;
const { get, all, run } = StatementSync.prototype;
