import { createHash } from 'node:crypto';
import { refused } from './refused.ts';
import type { DatabaseValue, Where } from './safeDatabase.ts';
import { quoted } from './tables.ts';

/** A delete before it is confirmed: plain values, taken from what the author gave once and for all. */
export interface DeleteStatement {
  readonly table: string;
  /** Follows `FROM`. */
  readonly rows: string;
  readonly params: readonly DatabaseValue[];
  /** Of the table, the condition and every value. */
  readonly hash: string;
}

/** Builds the statement. Every property is read once: one that answers differently later changes nothing. */
export function deleteStatement(table: string, where: Where): DeleteStatement {
  const { condition, params } = conditionOf(table, where);
  const rows = `main.${quoted(table)} WHERE (${condition}\n)`;
  const text = JSON.stringify([rows, params.map(tagged)]);
  return { table, rows, params, hash: createHash('sha256').update(text).digest('hex') };
}

/** Refuses what SQLite cannot bind, or that may change after it was looked at. */
export function plainValue(value: unknown): DatabaseValue {
  if (value === null) return null;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  throw refused(`a value of type ${typeof value} cannot be bound; use null, numbers, texts or bytes`);
}

function conditionOf(table: string, where: Where): { condition: string; params: readonly DatabaseValue[] } {
  if (typeof where !== 'object' || where === null || Array.isArray(where)) throw noCondition();
  const { sql, params } = where;
  if (Array.isArray(params)) {
    if (typeof sql !== 'string' || sql.trim() === '') throw noCondition();
    return { condition: sql, params: Array.from(params, plainValue) };
  }
  const columns = Object.entries(where);
  if (columns.length === 0) throw noCondition();
  // Qualified by its table, as SQLite would take a misspelled column for a text.
  const condition = columns.map(([name]) => `${quoted(table)}.${quoted(name)} IS ?`).join(' AND ');
  return { condition, params: columns.map(([, value]) => plainValue(value)) };
}

function noCondition() {
  return refused(
    'a delete needs a condition that says which rows',
    'to delete all, say so: `{ sql: "true", params: [] }`',
  );
}

/** So that `1`, `1n` and `'1'` are different things to have confirmed. */
function tagged(value: DatabaseValue): readonly [string, string] {
  if (value === null) return ['null', ''];
  if (typeof value === 'object') return ['bytes', Buffer.from(value).toString('hex')];
  return [typeof value, Object.is(value, -0) ? '-0' : String(value)];
}
