import { own } from '@phasegate/core';
import type { RawDatabase } from './rawDatabase.ts';

/** The tables of a database, and what tells us that rows of them would be deleted. */
export interface Tables {
  /** By name as the schema has it. */
  readonly kinds: ReadonlyMap<string, 'table' | 'view' | 'virtual' | 'shadow'>;
  /** Name of a trigger of ours → the table it watches. */
  readonly tripwires: ReadonlyMap<string, string>;
  /** Whether the schema has triggers of its own. */
  readonly hasTriggers: boolean;
}

/** Of a database nobody has looked at yet. */
export const NO_TABLES: Tables = { kinds: new Map(), tripwires: new Map(), hasTriggers: false };

/**
 * Looks at the schema. With a `mark`, it also puts a trigger before every delete, in this connection only. It does
 * nothing when it runs: SQLite's authorizer is told no more than `INSERT` about a `REPLACE`, but hears the name of
 * every trigger that is compiled with it, and so of the delete.
 */
export function readTables(database: RawDatabase, mark: string | null): Tables {
  const kinds = new Map<string, 'table' | 'view' | 'virtual' | 'shadow'>();
  for (const row of database.prepare('PRAGMA main.table_list').all([])) {
    const [name, type] = [own(row, 'name'), own(row, 'type')];
    if (own(row, 'schema') !== 'main' || typeof name !== 'string' || /^sqlite_/i.test(name)) continue;
    if (type === 'table' || type === 'view' || type === 'virtual' || type === 'shadow') kinds.set(name, type);
  }
  const tripwires = new Map<string, string>();
  for (const [name, kind] of mark === null ? [] : kinds) {
    if (kind !== 'table') continue;
    const tripwire = `phasegate_${mark}_${tripwires.size}`;
    const table = `main.${quoted(name)}`;
    database.exec(`CREATE TEMP TRIGGER ${tripwire} BEFORE DELETE ON ${table} WHEN 0 BEGIN SELECT 1; END`);
    tripwires.set(tripwire, name);
  }
  const triggers = database.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' LIMIT 1");
  return { kinds, tripwires, hasTriggers: triggers.get([]) !== undefined };
}

/** An identifier as SQLite reads it, whatever is in it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
