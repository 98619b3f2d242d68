import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';

/** A statement that is prepared at its first use: a process that starts should pay for what it needs only. */
export type Lazy = () => StatementSync;

/** One row as SQLite gives it. */
export type SqlRow = Readonly<Record<string, SQLOutputValue>>;

/** Prepares a statement when it is first asked for. */
export function lazily(database: DatabaseSync, sql: string): Lazy {
  let statement: StatementSync | undefined;
  return () => {
    statement ??= database.prepare(sql);
    return statement;
  };
}

/** A text column. Tables are strict, so anything else is a fault of the query. */
export function text(row: SqlRow, column: string): string {
  return String(row[column]);
}

/** A text column that may be null. */
export function textOrNull(row: SqlRow, column: string): string | null {
  const value = row[column];
  return value === null || value === undefined ? null : String(value);
}

/** An integer column. */
export function integer(row: SqlRow, column: string): number {
  return Number(row[column]);
}

/** A column of bytes, in hex. */
export function hex(row: SqlRow, column: string): string {
  const value = row[column];
  if (!(value instanceof Uint8Array)) return '';
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
}

/**
 * The SQL for a column of bytes as a text of their hex, under its own name. Where many rows are read it costs less: bytes
 * that SQLite hands out are memory outside of the heap, each of them to be given back.
 */
export function inHex(column: string): string {
  return `lower(hex(${column})) AS ${column}`;
}

/** Bytes for a column, of their hex. */
export function bytes(value: string): Buffer {
  return Buffer.from(value, 'hex');
}
