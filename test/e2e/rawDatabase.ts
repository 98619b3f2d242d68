import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { canonicalJson, type Json, type JsonObject } from '@phasegate/core';
import { expect } from 'vitest';
import { nameRawTables, onRawTables } from '../../packages/phasegate/src/stores/fixtures/rawTables.ts';
import type { TestProject } from './cli.ts';

/** Opens the database as anyone who may write the file can, beside Phasegate. */
export function using<T>(project: TestProject, act: (database: DatabaseSync) => T): T {
  return usingFile(join(project.stateDir, 'state.db'), act);
}

/** Opens a database file so; runs and records have the names people give them. */
export function usingFile<T>(file: string, act: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA foreign_keys=OFF; PRAGMA busy_timeout=5000');
    nameRawTables(database);
    return act(database);
  } finally {
    database.close();
  }
}

/** Changes the database; a change of nothing would prove nothing. */
export function alter(project: TestProject, sql: string, ...values: readonly SQLInputValue[]): void {
  using(project, (database) => alterIn(database, sql, ...values));
}

/** Changes a database that is open. */
export function alterIn(database: DatabaseSync, sql: string, ...values: readonly SQLInputValue[]): void {
  const changes = () => Number(database.prepare('SELECT total_changes() AS n').get()?.n);
  const before = changes();
  database.prepare(onRawTables(database, sql)).run(...values);
  expect(changes()).toBeGreaterThan(before);
}

/** The number of the newest record of a chain; the project's own has the empty name. */
export function newestSeq(project: TestProject, run: string): number {
  const row = using(project, (database) =>
    database.prepare('SELECT max(seq) AS seq FROM raw_audit WHERE run = ?').get(run),
  );
  return Number(row?.seq);
}

/** A record as it lies in the table, without its hash. */
export interface RawRecord {
  readonly seq: number;
  readonly run: string;
  readonly time: string;
  readonly principal: string;
  readonly event: string;
  readonly data: Json;
  readonly prev: string;
}

/** Edits one record and gives it the hash it should then have. */
export function alterRecord(
  project: TestProject,
  { run, seq }: { readonly run: string; readonly seq: number },
  edit: (record: RawRecord) => RawRecord,
): void {
  const record = using(project, (database) => rawRecords(database, run)).find((one) => one.seq === seq);
  const edited = edit(record as RawRecord);
  alter(
    project,
    'UPDATE audit SET principal = ?, hash = ? WHERE run = ? AND seq = ?',
    edited.principal,
    hashOf(edited),
    run,
    seq,
  );
}

/** Edits records and links the whole chain anew; gives its new head. */
export function rechain(project: TestProject, run: string, edit: (record: RawRecord) => RawRecord): string {
  let prev = '';
  for (const record of using(project, (database) => rawRecords(database, run))) {
    const edited = { ...edit(record), prev };
    const hash = hashOf(edited);
    alter(
      project,
      'UPDATE audit SET principal = ?, prev = ?, hash = ? WHERE run = ? AND seq = ?',
      edited.principal,
      prev,
      hash,
      run,
      record.seq,
    );
    prev = hash;
  }
  return prev;
}

/** Adds a record that links to the newest one as a genuine one would. */
export function append(
  project: TestProject,
  {
    run,
    seq,
    event,
    data,
  }: { readonly run: string; readonly seq: number; readonly event: string; readonly data: Json },
): void {
  const last = using(project, (database) =>
    database.prepare('SELECT hash FROM raw_audit WHERE run = ? AND seq = ?').get(run, seq - 1),
  );
  const prev = String(last?.hash);
  const record = { seq, run, time: '2030-01-01T00:00:00.000Z', principal: 'human:maria', event, data, prev };
  alter(
    project,
    'INSERT INTO audit (run, seq, time, principal, event, data, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    run,
    seq,
    record.time,
    record.principal,
    event,
    JSON.stringify(data),
    prev,
    hashOf(record),
  );
}

function rawRecords(database: DatabaseSync, run: string): readonly RawRecord[] {
  return database
    .prepare('SELECT seq, run, time, principal, event, data, prev FROM raw_audit WHERE run = ? ORDER BY seq')
    .all(run)
    .map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as unknown as RawRecord);
}

function hashOf(record: RawRecord): string {
  return createHash('sha256')
    .update(canonicalJson({ ...record } as JsonObject))
    .digest('hex');
}
