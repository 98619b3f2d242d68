import { workflowRunsMigration } from './0004-workflow-runs.ts';

/**
 * What many agents need: the queue's order, leases, agents and webhooks. Runs are copied into a new table rather
 * than given columns at the end, so that `state` goes on standing last and listing never reads it.
 */
export const agentsMigration = `
DROP VIEW workflow_runs;

CREATE TABLE runs_with_queue (
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
  priority INTEGER NOT NULL DEFAULT 0,
  capabilities TEXT NOT NULL DEFAULT '[]',
  state TEXT NOT NULL
) STRICT;

INSERT INTO runs_with_queue (
  rowid, id, workflow_hash, workflow_id, target, holder, status, phase, epoch, version, seq, hash, mac,
  headed_seq, headed_hash, started_at, updated_at, state
)
SELECT
  rowid, id, workflow_hash, workflow_id, target, holder, status, phase, epoch, version, seq, hash, mac,
  headed_seq, headed_hash, started_at, updated_at, state
FROM runs ORDER BY rowid;

DROP TABLE runs;
ALTER TABLE runs_with_queue RENAME TO runs;

CREATE INDEX runs_by_start ON runs(started_at);
-- A server asks every second for the runs somebody works on, among many that ended long ago.
CREATE INDEX runs_by_status ON runs(status, started_at);
CREATE INDEX runs_in_queue ON runs(priority DESC, started_at) WHERE status = 'queued';

-- The empty item is the run itself: no item has that name.
CREATE TABLE leases (
  run TEXT NOT NULL,
  item TEXT NOT NULL,
  agent TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  expires_at TEXT NOT NULL,
  jti TEXT,
  previous_jti TEXT,
  mac TEXT NOT NULL,
  PRIMARY KEY (run, item)
) STRICT, WITHOUT ROWID;

-- A removed agent stays, and a key of its own for each time its name was given.
CREATE TABLE agents (
  name TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  data TEXT NOT NULL,
  removed_at TEXT,
  mac TEXT NOT NULL,
  PRIMARY KEY (name, key_hash)
) STRICT;

CREATE INDEX agents_present ON agents(name) WHERE removed_at IS NULL;

-- The seal is over what a human set up; how far deliveries are moves all the time and gives nobody a right.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  data TEXT NOT NULL,
  mac TEXT NOT NULL,
  cursor INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  retry_at TEXT
) STRICT;
${workflowRunsMigration}`;
