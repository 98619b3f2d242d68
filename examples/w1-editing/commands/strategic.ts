import { readFileSync } from 'node:fs';
import { doStep } from './step.ts';

/** Plans a round: one area for each weakness the analysis names, and what the human asked for. */
await doStep(({ input, known, all, change, halfway }) => {
  const { checkpoint, runId } = input;
  const [book] = all('SELECT title FROM books WHERE id = ?', known('book'));
  if (book === undefined) throw new Error(`the database has no book \`${known('book')}\``);
  const { areas }: Analysis = JSON.parse(readFileSync(known('analysisPath'), 'utf8'));
  const round = checkpoint.completedSteps.filter((done) => done.step === input.step).length + 1;
  const wish: string | null = checkpoint.gateDecision?.input ?? null;
  for (const { name, chapters } of areas) {
    change(
      'INSERT INTO strategic_plans (run, round, area, chapters, wish) VALUES (?, ?, ?, ?, ?)',
      ...[runId, round, name, JSON.stringify(chapters), wish],
    );
    halfway();
  }
  change(
    "INSERT INTO workflow_status (run, status) VALUES (?, 'running') ON CONFLICT (run) DO NOTHING",
    runId,
  );
  return {
    prompt: `Plan round ${round} of ${book.title}${wish === null ? '' : `; the human asks: ${wish}`}`,
    result: { improvementAreas: areas.map(({ name }) => name) },
  };
});

interface Analysis {
  readonly areas: readonly { readonly name: string; readonly chapters: readonly number[] }[];
}
