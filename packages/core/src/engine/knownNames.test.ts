import { describe, expect, test } from 'vitest';
import { ENGINE_FIELDS } from '../model/names.ts';
import { type Phase, phaseById, type Workflow } from '../model/workflow.ts';
import { started, workflowOf } from './fixtures/walks.ts';
import { knownNames } from './knownNames.ts';
import { checkpointOf, subjectFor } from './scope.ts';

const workflow = workflowOf(
  [
    {
      id: 'plan',
      fields: [{ name: 'count', type: 'int' }],
      artifacts: [{ type: 'plan' }],
      gates: [
        {
          human: { prompt: 'Good?', context: ['metrics.delta', 'metrics.base'], options: [{ label: 'Yes' }] },
        },
      ],
    },
    { id: 'free' },
    { id: 'review', artifacts: [{ type: 'plan' }, { type: 'review' }] },
  ],
  { params: { book: {}, mode: { default: 'full' } } },
);

describe('the names that are known though nothing is there', () => {
  test('are what phases declare, what gates cover, the params, and the fields of the engine', () => {
    expect(knownNames(workflow, phase('plan'))).toEqual({
      artifacts: ['count', 'plan', 'review'],
      approved: ['count', 'plan', 'metrics'],
      params: ['book', 'mode'],
      checkpoint: [...ENGINE_FIELDS, 'book', 'mode', 'count', 'plan', 'review'],
      result: ['count', 'plan'],
      roots: ['plan'],
    });
  });

  test('are, for the result of a phase that declares nothing, unknown', () => {
    expect(knownNames(workflow, phase('free'))).toMatchObject({ result: null, roots: [] });
  });

  test('hold every field of a checkpoint', () => {
    const fields = Object.keys(checkpointOf(started(workflowOf([{ id: 'a' }]))));

    expect(ENGINE_FIELDS).toEqual(expect.arrayContaining(fields));
  });
});

test('a look tells the names where functions may be asked, and only there', () => {
  const coded = { ...workflow, code: 'c', module: 'w.ts' };

  expect(subject(coded).known).toEqual(knownNames(coded, phase('plan')));
  expect(Object.keys(subject(workflow))).not.toContain('known');
});

function subject(of: Workflow) {
  return subjectFor(started(of), { phase: phase('plan') });
}

function phase(id: string): Phase {
  return phaseById(workflow, id) as Phase;
}
