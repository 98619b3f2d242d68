import type { DatabaseSync } from 'node:sqlite';
import { placesOf, runFromState } from '@phasegate/audit';
import type { Workflow } from '@phasegate/core';
import { text } from '../statements.ts';
import { workflowRunsMigration } from './0004-workflow-runs.ts';

/**
 * By what runs are found: to be claimed, at a gate whose time is up, quiet for long, not over yet. Runs are copied into
 * a new table once more, so that `state` goes on standing last. No index is over a column that every transition
 * changes.
 */
export const findingMigration = `
DROP VIEW workflow_runs;

CREATE TABLE runs_with_places (
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
  claim_place TEXT,
  gate_due TEXT,
  target_key TEXT,
  quiet_since TEXT,
  state TEXT NOT NULL
) STRICT;

INSERT INTO runs_with_places (
  rowid, id, workflow_hash, workflow_id, target, holder, status, phase, epoch, version, seq, hash, mac,
  headed_seq, headed_hash, started_at, updated_at, priority, capabilities, quiet_since, state
)
SELECT
  rowid, id, workflow_hash, workflow_id, target, holder, status, phase, epoch, version, seq, hash, mac,
  headed_seq, headed_hash, started_at, updated_at, priority, capabilities,
  CASE WHEN status IN ('active', 'queued', 'waiting') THEN updated_at END, state
FROM runs ORDER BY rowid;

DROP TABLE runs;
ALTER TABLE runs_with_places RENAME TO runs;
${workflowRunsMigration}`;

/** The indexes, once every row has its places. */
export const findingIndexes = `
CREATE INDEX runs_by_status ON runs(status, started_at);
CREATE INDEX runs_by_workflow ON runs(workflow_id, status, started_at);
CREATE INDEX runs_held ON runs(holder, status, started_at) WHERE holder IS NOT NULL;
CREATE INDEX runs_claimable ON runs(capabilities, claim_place) WHERE claim_place IS NOT NULL;
CREATE INDEX runs_gate_due ON runs(gate_due) WHERE gate_due IS NOT NULL;
CREATE INDEX runs_not_over ON runs(workflow_id, target_key) WHERE target_key IS NOT NULL;
CREATE INDEX runs_quiet ON runs(quiet_since) WHERE quiet_since IS NOT NULL;
CREATE INDEX leases_by_end ON leases(expires_at);
CREATE INDEX audit_stuck ON audit(run, seq) WHERE event = 'run_stuck';
`;

/** Gives the runs that are not over their places, which only the engine can say. */
export function fillPlaces(database: DatabaseSync): void {
  const workflowOf = database.prepare('SELECT data FROM workflows WHERE hash = ?');
  const workflows = new Map<string, Workflow>();
  const known = (hash: string): Workflow => {
    const found = workflows.get(hash) ?? (JSON.parse(text(workflowOf.get(hash) ?? {}, 'data')) as Workflow);
    workflows.set(hash, found);
    return found;
  };
  const fill = database.prepare(
    'UPDATE runs SET claim_place = ?, gate_due = ?, target_key = ? WHERE rowid = ?',
  );
  const read = database.prepare(NEXT);
  for (let last = 0; ; ) {
    const row = read.get(last);
    if (row === undefined) return;
    last = Number(row.number);
    const { claimPlace, gateDue, targetKey } = placesIn(row, known);
    fill.run(claimPlace, gateDue, targetKey, last);
  }
}

const NEXT = `SELECT rowid AS number, status, target, state FROM runs
  WHERE rowid > ? AND status NOT IN ('completed', 'stopped') ORDER BY rowid LIMIT 1`;

/** A run that cannot be understood is found by anyone who looks for it, and what is wrong with it is said then. */
function placesIn(
  row: Record<string, unknown>,
  workflowOf: (hash: string) => Workflow,
): Omit<ReturnType<typeof placesOf>, 'workspace'> {
  try {
    return placesOf(runFromState(String(row.state), workflowOf));
  } catch {
    return { claimPlace: row.status === 'queued' ? '' : null, gateDue: '', targetKey: '' };
  }
}
