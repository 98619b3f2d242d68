import { filled, RESULTS_IN_STATE, steps, workflowRuns } from './0009-history.ts';

/** Before a state whose items stand in its steps, as `withoutItems` of the audit writes it. */
const APART = "char(1) || 'items:0:' || char(1)";

/** All items once (kind 3), and then those that changed (kind 4); of each the newest. */
const RESULTS_IN_STEPS = `(
      SELECT json_group_object(item.key, json_object(
        'status', item.value ->> '$.status',
        'result', json(item.value -> '$.evidence'),
        'error', item.value ->> '$.error',
        'retryCount', item.value ->> '$.attempts'
      ))
      FROM (
        SELECT one.key, one.value, max(step.id)
        FROM (SELECT id, ${filled('changed.text')} AS text FROM (${steps('whole.last_step')}) AS changed
          WHERE changed.kind IN (3, 4) AND changed.id >= (
            SELECT max(entered.id) FROM (${steps('whole.last_step')}) AS entered WHERE entered.kind = 3
          )) AS step, json_each(step.text) AS one
        GROUP BY one.key
      ) AS item
    )`;

/**
 * Items of a run that has many stand in its steps from now on. Runs stay as they are until they are written next; only
 * the view has to read both.
 */
export const itemsMigration = `
DROP VIEW workflow_runs;
${workflowRuns({
  state: `replace(runs.state, ${APART}, '')`,
  parallelResults: `CASE WHEN (SELECT instr(runs.state, ${APART}) FROM runs WHERE runs.key = whole.key) = 1
      THEN ${RESULTS_IN_STEPS} ELSE ${RESULTS_IN_STATE} END`,
})}
`;
