/** Runs in the words of code-defined workflows: the checkpoint is read out of the state, so the two cannot differ. */
export const workflowRunsMigration = `
CREATE VIEW workflow_runs AS
SELECT
  id,
  workflow_id AS type,
  json_object(
    'workflowRunId', id,
    'workflowType', workflow_id,
    'currentStep', phase ->> '$',
    'completedSteps', (
      SELECT json_group_array(json_object(
        'step', done.value ->> '$.phase',
        'completedAt', done.value ->> '$.at',
        'result', json(done.value -> '$.evidence')
      ))
      FROM json_each(state, '$.completions') AS done
    ),
    'iterationCounts', json(state -> '$.iterations'),
    'pendingRetry', json(CASE WHEN state ->> '$.work.attempts' > 0 THEN json_object(
      'step', phase ->> '$',
      'error', state ->> '$.work.failure',
      'attempt', state ->> '$.work.attempts'
    ) END),
    'parallelResults', json(CASE WHEN json_type(state, '$.work.items') = 'object' THEN (
      SELECT json_group_object(item.key, json_object(
        'status', item.value ->> '$.status',
        'result', json(item.value -> '$.evidence'),
        'error', item.value ->> '$.error',
        'retryCount', item.value ->> '$.attempts'
      ))
      FROM json_each(state, '$.work.items') AS item
    ) END),
    'gateDecision', json(CASE WHEN json_array_length(state, '$.decisions') > 0 THEN json_object(
      'gate', state ->> '$.decisions[#-1].gate',
      'option', state ->> '$.decisions[#-1].option',
      'input', state ->> '$.decisions[#-1].input'
    ) END)
  ) AS checkpoint_json,
  phase ->> '$' AS current_step,
  state -> '$.iterations' AS iteration_counts
FROM runs;
`;
