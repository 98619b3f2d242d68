import { doStep } from './step.ts';

/** Writes down what the human is going to be asked about. */
await doStep(({ input, known, change, halfway }) => {
  const { delta } = input.checkpoint.metrics;
  const summary = `${known('versionId')} is better by ${delta}`;
  halfway();
  change(
    "INSERT INTO artifacts (run, kind, name) VALUES (?, 'summary', ?) ON CONFLICT DO UPDATE SET name = excluded.name",
    ...[input.runId, summary],
  );
  return { prompt: `Ask the human: ${summary}`, result: {} };
});
