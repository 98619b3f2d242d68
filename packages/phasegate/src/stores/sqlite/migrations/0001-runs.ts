/**
 * Runs, their workflows, the audit and its signed head. `state` stands last so that listing never reads it,
 * and `phase` is JSON so that the phases `1` and `"1"` stay apart.
 */
export const runsMigration = `
CREATE TABLE workflows (
  hash TEXT PRIMARY KEY,
  data TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  workflow_hash TEXT NOT NULL REFERENCES workflows(hash),
  workflow_id TEXT NOT NULL,
  target TEXT,
  holder TEXT,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  version INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  mac TEXT NOT NULL,
  headed_seq INTEGER NOT NULL DEFAULT 0,
  headed_hash TEXT NOT NULL DEFAULT '',
  started_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;

CREATE INDEX runs_by_start ON runs(started_at);

-- Runs with records newer than the signed head: another process signs them, if the one that wrote them dies.
-- A table rather than an index over seq, which would be written anew with every transition.
CREATE TABLE unheaded (
  run TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  run TEXT NOT NULL,
  seq INTEGER NOT NULL,
  time TEXT NOT NULL,
  principal TEXT NOT NULL,
  event TEXT NOT NULL,
  data TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (run, seq)
) STRICT;

CREATE TABLE heads (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  project_seq INTEGER NOT NULL,
  project_hash TEXT NOT NULL,
  sum TEXT NOT NULL,
  weighted TEXT NOT NULL,
  runs INTEGER NOT NULL,
  time TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;
`;
