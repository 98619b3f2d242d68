import { doStep } from './step.ts';

/** Reads the version as this reviewer would, and saves what they say. */
export function reviewAs(reviewer: string): Promise<void> {
  return doStep(({ input, known, scenario, change, halfway }) => {
    const round = input.checkpoint.completedSteps.filter((done) => done.step === input.step).length + 1;
    const decision = scenario.has('reject') ? 'rejected' : 'approved';
    change('INSERT INTO reviews (run, reviewer, round) VALUES (?, ?, ?)', ...[input.runId, reviewer, round]);
    halfway();
    change(
      'UPDATE reviews SET decision = ? WHERE run = ? AND reviewer = ? AND round = ?',
      ...[decision, input.runId, reviewer, round],
    );
    return {
      prompt: `Read ${known('versionId')} as its ${reviewer}: approve it, or say what is wrong`,
      result: { decision },
    };
  });
}
