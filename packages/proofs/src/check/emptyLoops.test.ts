import { expect, test } from 'vitest';
import { checkWorkflow } from './checkWorkflow.ts';
import { workflowOf } from './fixtures/flaws.ts';

test('a phase without items that is gone through several times at once counts each visit', () => {
  const workflow = workflowOf(
    [
      { id: 'PLAN', next: { to: 'BUILD' } },
      {
        id: 'BUILD',
        parallel: { key: 'places' },
        next: { condition: 'iteration in [2, 4]', onTrue: null, onFalse: 'BUILD', onExhausted: 'PLAN' },
      },
    ],
    { params: { places: { type: 'list', required: true } } },
  );

  const { findings } = checkWorkflow(workflow);

  expect(findings.map(({ code }) => code)).not.toContain('exhausted_loop');
});
