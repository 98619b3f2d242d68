/**
 * What stays of runs that were archived: their number, so that no other run gets it, the newest record of their chain,
 * which is part of the signed sum, the places of its first and last record, and the file they are in.
 */
export const archivedMigration = `
CREATE TABLE archived (
  key INTEGER PRIMARY KEY,
  run TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  first_place INTEGER NOT NULL,
  last_place INTEGER NOT NULL,
  file TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  archived_at TEXT NOT NULL,
  mac TEXT NOT NULL
) STRICT;
`;
