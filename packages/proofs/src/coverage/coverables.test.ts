import { expect, test } from 'vitest';
import { workflowOf } from '../../../core/src/engine/fixtures/walks.ts';
import { coverables } from './coverables.ts';

test('what would show an option that asks for a text has one', () => {
  const options = [{ label: 'Approve' }, { label: 'Again', next: 1, requiresInput: true }];
  const human = { prompt: 'Good?', options };
  const workflow = workflowOf([{ id: 1, gates: [{ id: 'ship', human }] }, { id: 2 }]);

  const hints = coverables(workflow).flatMap(({ hint }) => (hint.startsWith('human:') ? [hint] : []));

  expect([...new Set(hints)].sort()).toEqual([
    'human: { choose: Again, input: … }',
    'human: { choose: Approve }',
  ]);
});
