import { createHash } from 'node:crypto';
import { own, PhasegateError } from '@phasegate/core';
import { authorizeMigration, MIGRATIONS_TABLE } from './authorize.ts';
import { openRawDatabase, type RawDatabase } from './rawDatabase.ts';
import { databaseFault, refused } from './refused.ts';

/** One numbered change of a schema. */
export interface Migration {
  /** From 1, without gaps. */
  readonly number: number;
  /** The file's name. */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/** Puts the files of a folder in order; refuses gaps, doubles and names that are not numbered. */
export function orderMigrations(files: readonly { readonly name: string; readonly content: Buffer }[]) {
  const found = files
    .filter(({ name }) => name.endsWith('.sql'))
    .map(({ name, content }): Migration => {
      const number = /^(\d{4,})-[\w.-]+\.sql$/.exec(name)?.[1];
      if (number === undefined) {
        throw refused(`the migration \`${name}\` has no number`, 'call it like `0001-first-tables.sql`');
      }
      const sha256 = createHash('sha256').update(content).digest('hex');
      return { number: Number(number), name, sql: content.toString('utf8'), sha256 };
    })
    .sort((a, b) => a.number - b.number);
  found.forEach(({ number, name }, index) => {
    if (number === index + 1) return;
    throw refused(`the migration \`${name}\` should be number ${index + 1}: numbers start at 1 without gaps`);
  });
  return found;
}

/** Applies what was not applied yet, each in a transaction of its own. The file must be there. */
export function applyMigrations(
  file: string,
  migrations: readonly Migration[],
  {
    now,
    applied,
    later = false,
  }: {
    readonly now: () => number;
    readonly applied: (name: string) => void;
    /** Whether later ones than these may have been applied, for another run. */
    readonly later?: boolean;
  },
): void {
  let ours = true;
  let database: RawDatabase | undefined;
  try {
    const raw = openRawDatabase(file, {
      writable: true,
      busyMs: 0,
      ask: (asked) => (ours ? null : authorizeMigration(asked)),
    });
    database = raw;
    // Off while tables are rebuilt, as SQLite advises; looked at before each commit instead.
    raw.exec(`PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=OFF; ${RECORDS}`);
    for (const migration of pendingOf(raw, migrations, later)) {
      raw.exec('BEGIN IMMEDIATE');
      ours = false;
      const before = broken(raw);
      try {
        raw.exec(migration.sql);
      } catch (error) {
        throw failed(migration, raw.refusal() ?? reasonOf(error), error);
      } finally {
        ours = true;
      }
      if (broken(raw) > before) throw failed(migration, 'rows would refer to rows that are not there');
      record(raw, migration, now());
      raw.exec('COMMIT');
      applied(migration.name);
    }
  } catch (error) {
    throw databaseFault(error, file);
  } finally {
    // Closing rolls back what was not committed.
    database?.close();
  }
}

const RECORDS = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  applied_at TEXT NOT NULL
)`;

/** What was applied must be what the folder begins with: history is added to, never rewritten. */
function pendingOf(
  database: RawDatabase,
  migrations: readonly Migration[],
  later: boolean,
): readonly Migration[] {
  const applied = database.prepare(`SELECT * FROM ${MIGRATIONS_TABLE} ORDER BY number`).all([]);
  applied.forEach((row, index) => {
    const migration = migrations[index];
    const name = String(own(row, 'name'));
    if (migration === undefined && later) return;
    if (migration === undefined)
      throw refused(`the migration \`${name}\` was applied and is not there any more`);
    const same = own(row, 'number') === migration.number && name === migration.name;
    if (!same) throw refused(`the migration \`${name}\` was applied and is now called \`${migration.name}\``);
    if (own(row, 'sha256') === migration.sha256) return;
    throw refused(
      `the migration \`${name}\` was changed after it was applied`,
      'undo that, and add a new one',
    );
  });
  return migrations.slice(applied.length);
}

function record(database: RawDatabase, { number, name, sha256 }: Migration, now: number): void {
  database
    .prepare(`INSERT INTO ${MIGRATIONS_TABLE} (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)`)
    .run([number, name, sha256, new Date(now).toISOString()]);
}

function broken(database: RawDatabase): number {
  return database.prepare('PRAGMA foreign_key_check').all([]).length;
}

function failed({ name }: Migration, reason: string, cause?: unknown): PhasegateError {
  return new PhasegateError('database_refused', `the migration \`${name}\` was not applied: ${reason}`, {
    cause,
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
