import type { DatabaseSync } from 'node:sqlite';
import type { DatabaseBackup } from '../../runtime/ports.ts';
import { integer, lazily, text, textOrNull } from './statements.ts';

/** Backups of authors' databases. They stand in one table with those of the state, and their ids begin with `db-`. */
export interface BackupTable {
  put(backup: DatabaseBackup): void;
  /** Newest first. */
  list(): readonly DatabaseBackup[];
}

/** Opens the table. */
export function openBackupTable(database: DatabaseSync): BackupTable {
  const insert = lazily(
    database,
    'INSERT INTO database_backups (id, created_at, path, workflow_run_id, size_bytes) VALUES (?, ?, ?, ?, ?)',
  );
  const read = lazily(
    database,
    "SELECT * FROM database_backups WHERE id LIKE 'db-%' ORDER BY created_at DESC, rowid DESC",
  );
  return {
    put({ id, createdAt, path, run, sizeBytes }) {
      insert().run(id, createdAt, path, run, sizeBytes);
    },
    list: () =>
      read()
        .all()
        .map((row) => ({
          id: text(row, 'id'),
          createdAt: text(row, 'created_at'),
          path: text(row, 'path'),
          run: textOrNull(row, 'workflow_run_id'),
          sizeBytes: integer(row, 'size_bytes'),
        })),
  };
}
