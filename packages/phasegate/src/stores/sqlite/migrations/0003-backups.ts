/** Backups taken of this database. */
export const backupsMigration = `
CREATE TABLE database_backups (
  id TEXT PRIMARY KEY,
  created_at TEXT NOT NULL,
  path TEXT NOT NULL,
  workflow_run_id TEXT,
  size_bytes INTEGER
) STRICT;
`;
