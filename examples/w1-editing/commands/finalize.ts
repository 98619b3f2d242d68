import { doStep } from './step.ts';

/** Registers what the run has made, and marks it as done in the project's own database. */
await doStep(({ input, known, change, halfway }) => {
  change(
    "INSERT INTO artifacts (run, kind, name) VALUES (?, 'version', ?)",
    ...[input.runId, known('versionId')],
  );
  halfway();
  change("UPDATE workflow_status SET status = 'completed' WHERE run = ?", input.runId);
  return { prompt: `Publish ${known('versionId')}`, result: { registered: true } };
});
