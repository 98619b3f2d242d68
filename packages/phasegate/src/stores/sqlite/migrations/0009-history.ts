import { findingIndexes } from './0007-finding.ts';

/**
 * Runs without their history, which is written once: `texts` has large values, completions and decisions, `run_heads`
 * what every record of a run moves, and records name their run by a number. What is in the tables from before is
 * brought over by `moveHistory`, between the two halves.
 */
export const historyMigration = `
DROP VIEW workflow_runs;
DROP INDEX runs_by_status;
DROP INDEX runs_by_workflow;
DROP INDEX runs_held;
DROP INDEX runs_claimable;
DROP INDEX runs_gate_due;
DROP INDEX runs_not_over;
DROP INDEX runs_quiet;
DROP INDEX audit_stuck;
ALTER TABLE runs RENAME TO runs_before;
ALTER TABLE audit RENAME TO audit_before;
ALTER TABLE unheaded RENAME TO unheaded_before;

-- Of a large value, kind is 0; of a step of a run 1 (a completion) or 2 (a decision), and before is the step before.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  before INTEGER,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workflow_hash TEXT NOT NULL REFERENCES workflows(hash),
  workflow_id TEXT NOT NULL,
  target TEXT,
  holder TEXT,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  capabilities TEXT NOT NULL DEFAULT '[]',
  claim_place TEXT,
  gate_due TEXT,
  target_key TEXT,
  quiet_since TEXT,
  last_step INTEGER,
  state TEXT NOT NULL
) STRICT;

-- The version counts the states, seq and hash are the newest record, headed_* the one in the signed sum.
CREATE TABLE run_heads (
  run INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  mac BLOB NOT NULL,
  headed_seq INTEGER NOT NULL DEFAULT 0,
  headed_hash BLOB NOT NULL DEFAULT x''
) STRICT;

-- The project's own chain is run 0. A time is a number of milliseconds where that says it whole.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  time ANY NOT NULL,
  principal TEXT NOT NULL,
  event TEXT NOT NULL,
  data TEXT NOT NULL,
  prev BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;

CREATE TABLE unheaded (
  run INTEGER PRIMARY KEY
) STRICT;
`;

/** Where the items of a run stand in its state. */
export const RESULTS_IN_STATE = `CASE WHEN json_type(state, '$.work.items') = 'object' THEN (
      SELECT json_group_object(item.key, json_object(
        'status', item.value ->> '$.status',
        'result', json(item.value -> '$.evidence'),
        'error', item.value ->> '$.error',
        'retryCount', item.value ->> '$.attempts'
      ))
      FROM json_each(state, '$.work.items') AS item
    ) END`;

/** The second half, once everything is in its new place. */
export const afterHistoryMigration = `
DROP TABLE unheaded_before;
DROP TABLE audit_before;
DROP TABLE runs_before;

CREATE UNIQUE INDEX audit_by_run ON audit(run, seq);
${findingIndexes.replace(/^CREATE INDEX leases_by_end.*$/m, '')}
${workflowRuns({ state: 'runs.state', parallelResults: RESULTS_IN_STATE })}`;

/** The view that design 2 names, on runs whose state is this text and whose items give these results. */
export function workflowRuns({ state, parallelResults }: WorkflowRuns): string {
  return `CREATE VIEW workflow_runs AS
WITH whole AS (
  SELECT key, id, workflow_id, phase, last_step, ${filled(state)} AS state FROM runs
)
SELECT
  id,
  workflow_id AS type,
  json_object(
    'workflowRunId', id,
    'workflowType', workflow_id,
    'currentStep', phase ->> '$',
    'completedSteps', (
      SELECT json_group_array(json_object(
        'step', done.text ->> '$.phase',
        'completedAt', done.text ->> '$.at',
        'result', json(done.text -> '$.evidence')
      ))
      FROM (
        SELECT ${filled('step.text')} AS text FROM (${steps('whole.last_step')}) AS step
        WHERE step.kind = 1 ORDER BY step.id
      ) AS done
    ),
    'iterationCounts', json(state -> '$.iterations'),
    'pendingRetry', json(CASE WHEN state ->> '$.work.attempts' > 0 THEN json_object(
      'step', phase ->> '$',
      'error', state ->> '$.work.failure',
      'attempt', state ->> '$.work.attempts'
    ) END),
    'parallelResults', json(${parallelResults}),
    'gateDecision', json((
      SELECT json_object(
        'gate', decided.text ->> '$.gate',
        'option', decided.text ->> '$.option',
        'input', decided.text ->> '$.input'
      )
      FROM (${steps('whole.last_step')}) AS decided
      WHERE decided.kind = 2 ORDER BY decided.id DESC LIMIT 1
    ))
  ) AS checkpoint_json,
  phase ->> '$' AS current_step,
  state -> '$.iterations' AS iteration_counts
FROM whole;
`;
}

interface WorkflowRuns {
  /** Large values are still to be put in their places. */
  readonly state: string;
  readonly parallelResults: string;
}

/** A text with its large values in their places, which stand between two U+0001 and begin with their number. */
export function filled(text: string): string {
  return `(
    WITH RECURSIVE filling(so_far) AS (
      SELECT ${text}
      UNION ALL
      SELECT substr(so_far, 1, instr(so_far, char(1)) - 1)
        || (SELECT text FROM texts WHERE id = CAST(substr(so_far, instr(so_far, char(1)) + 1) AS INTEGER))
        || substr(so_far, instr(so_far, char(1)) + 1 + instr(substr(so_far, instr(so_far, char(1)) + 1), char(1)))
      FROM filling WHERE instr(so_far, char(1)) > 0
    )
    SELECT so_far FROM filling WHERE instr(so_far, char(1)) = 0
  )`;
}

/** The steps of a run that end with the given one. */
export function steps(last: string): string {
  return `
    WITH RECURSIVE earlier(id, before, kind, text) AS (
      SELECT id, before, kind, text FROM texts WHERE id = ${last}
      UNION ALL
      SELECT one.id, one.before, one.kind, one.text
      FROM earlier JOIN texts AS one ON one.id = earlier.before AND one.id < earlier.id
    )
    SELECT id, kind, text FROM earlier`;
}
