import type { DatabaseSync } from 'node:sqlite';
import { targetKey } from '@phasegate/core/model';

/** Runs that were stopped are found by what they were about; the card of the next run about it tells of them. */
export const stoppedMigration = `
DROP INDEX runs_not_over;
`;

/** Gives each its key. */
export function fillStopped(database: DatabaseSync): void {
  const fill = database.prepare('UPDATE runs SET target_key = ? WHERE key = ?');
  const read = database.prepare(NEXT);
  for (let last = 0; ; ) {
    const row = read.get(last);
    if (row === undefined) return;
    last = Number(row.key);
    fill.run(targetKey(String(row.target)), last);
  }
}

const NEXT = `SELECT key, target FROM runs
  WHERE key > ? AND status = 'stopped' AND target IS NOT NULL ORDER BY key LIMIT 1`;

export const stoppedIndexes = `
CREATE INDEX runs_not_over ON runs(workflow_id, target_key) WHERE status NOT IN ('completed', 'stopped');
CREATE INDEX runs_stopped ON runs(target_key) WHERE status = 'stopped' AND target_key IS NOT NULL;
`;
