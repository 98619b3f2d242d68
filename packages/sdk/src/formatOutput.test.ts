import { describe, expect, test } from 'vitest';
import { WORKFLOW as hybrid } from './fixtures/hybrid.workflow.ts';
import { WORKFLOW as linear } from './fixtures/linear.workflow.ts';
import { formatOutput } from './formatOutput.ts';

describe('a step as text', () => {
  test('has a title, what to do and the next command [S4.3 S4.42 S4.44]', async () => {
    expect(await formatOutput(hybrid, 1, { run: '20260101-000000-abc' })).toBe(
      `WORKFLOW - Context Clarification

Say what the question is

phasegate done 20260101-000000-abc --phase 1 --evidence -`,
    );
    expect(await formatOutput(linear, 'step1')).toBe('WORKFLOW - One\n\nBegin\nGo on');
  });

  test('is made by its function where it has one, from what the run is like now [S4.42 S4.45]', async () => {
    const titles = [1, 2].flatMap((iteration) =>
      ['exploring', 'certain'].map(async (confidence) => {
        const text = await formatOutput(hybrid, 13, { params: { confidence }, iteration });
        return text.split('\n')[0];
      }),
    );

    expect(await Promise.all(titles)).toEqual([
      'WORKFLOW - Iterative Refinement (Iteration 1)',
      'WORKFLOW - Iterative Refinement (Iteration 1) -> Complete',
      'WORKFLOW - Iterative Refinement (Iteration 2)',
      'WORKFLOW - Iterative Refinement (Iteration 2) -> Complete',
    ]);
    expect(await formatOutput(hybrid, 9)).toBe('WORKFLOW - Dispatch\n\nSend the questions out');
  });

  test('is an error where there is no such step [S4.43]', async () => {
    expect(await formatOutput(hybrid, 3)).toBe('ERROR: Invalid step 3');
    expect(await formatOutput(hybrid, 'constructor')).toBe('ERROR: Invalid step constructor');
    expect(await formatOutput(hybrid, '13')).toContain('Iterative Refinement');
  });

  test('says the same as a chain of ifs over the steps would [S4.30]', async () => {
    for (const step of [0, 1, 2, 3, 9, 10, 13, 14]) {
      for (const confidence of ['exploring', 'certain']) {
        for (const iteration of [1, 2, 3, 4, 5]) {
          const given = { params: { confidence }, iteration };
          expect(await formatOutput(hybrid, step, given)).toBe(ifChain(step, confidence, iteration));
        }
      }
    }
  });

  test('quotes what a shell would read otherwise', async () => {
    expect(await formatOutput(linear, 'step3', { run: "it's; rm -rf" })).toContain(
      `phasegate done 'it'\\''s; rm -rf' --phase step3 --evidence -`,
    );
  });
});

/** The workflow as it would be without steps that are data. */
function ifChain(step: number, confidence: string, iteration: number): string {
  if (step === 1) return 'WORKFLOW - Context Clarification\n\nSay what the question is';
  if (step === 2) return 'WORKFLOW - Abstraction\n\nSay what kind of question it is';
  if (step === 9) return 'WORKFLOW - Dispatch\n\nSend the questions out';
  if (step === 13) {
    const suffix = confidence === 'certain' ? ' -> Complete' : '';
    return `WORKFLOW - Iterative Refinement (Iteration ${iteration})${suffix}\n\nIteration ${iteration} of 5`;
  }
  return `ERROR: Invalid step ${step}`;
}
