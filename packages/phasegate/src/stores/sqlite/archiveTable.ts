import type { DatabaseSync } from 'node:sqlite';
import { type ArchivedStub, type StoredStub, sameMac, stubMac } from '@phasegate/audit';
import type { ArchiveFile, Seal } from '../../runtime/ports.ts';
import { bytes, hex, integer, lazily, type SqlRow, text } from './statements.ts';

/** The stubs of archived runs. */
export interface ArchiveTable {
  find(run: string): StoredStub | undefined;
  has(run: string): boolean;
  files(): readonly ArchiveFile[];
  /** A run is in an archive from now on: its stub stays, and all of its rows go. */
  move(row: ArchivedRow, stub: ArchivedStub): void;
}

/** What is stored of a run, by its number and those of its texts: nothing else finds these, but a look at all there are. */
export interface ArchivedRow {
  readonly key: number;
  readonly texts: readonly number[];
}

/** Opens the table. */
export function openArchiveTable(database: DatabaseSync, seal: Seal): ArchiveTable {
  const read = lazily(database, 'SELECT * FROM archived WHERE run = ?');
  const files = lazily(database, FILES);
  const insert = lazily(database, INSERT);
  const byKey = ['runs WHERE key', 'run_heads WHERE run', 'audit WHERE run', 'unheaded WHERE run'];
  const byName = [
    'goals WHERE run',
    'overridden WHERE run',
    'leases WHERE run',
    'calls WHERE run',
    'calls_begun WHERE run',
  ];
  const statements = (rows: readonly string[]) =>
    rows.map((where) => lazily(database, `DELETE FROM ${where} = ?`));
  const dropText = lazily(database, 'DELETE FROM texts WHERE id = ?');
  const [dropByKey, dropByName] = [statements(byKey), statements(byName)];
  return {
    find(run) {
      const row = read().get(run);
      return row && storedStub(seal, row);
    },
    has: (run) => read().get(run) !== undefined,
    files: () =>
      files()
        .all()
        .map((row) => ({ file: text(row, 'file'), runs: integer(row, 'runs') })),
    move({ key, texts }, stub) {
      const { run, head, first, last, file, sha256, archivedAt } = stub;
      const placed = [head.seq, bytes(head.hash), first, last] as const;
      insert().run(key, run, ...placed, file, sha256, archivedAt, stubMac(seal, stub));
      for (const drop of dropByKey) drop().run(key);
      for (const drop of dropByName) drop().run(run);
      for (const id of texts) dropText().run(id);
    },
  };
}

/** A stub from its row. */
export function storedStub(seal: Seal, row: SqlRow): StoredStub {
  const stub: ArchivedStub = {
    run: text(row, 'run'),
    head: { seq: integer(row, 'seq'), hash: hex(row, 'hash') },
    first: integer(row, 'first_place'),
    last: integer(row, 'last_place'),
    file: text(row, 'file'),
    sha256: text(row, 'sha256'),
    archivedAt: text(row, 'archived_at'),
  };
  return { ...stub, sealed: sameMac(text(row, 'mac'), stubMac(seal, stub)) };
}

const FILES = 'SELECT file, COUNT(*) AS runs FROM archived GROUP BY file ORDER BY MIN(archived_at), file';
const INSERT = `INSERT INTO archived
  (key, run, seq, hash, first_place, last_place, file, sha256, archived_at, mac)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
