import { expect, test } from 'vitest';
import { workflowOf } from '../check/fixtures/flaws.ts';
import { simulate } from './simulate.ts';

test('a step with instructions and a handler is assumed to take an agent its time, one with a title alone a program', () => {
  const handled = { work: { kind: 'handler', ref: 'f' } } as const;
  const workflow = workflowOf([
    { id: 'A', name: 'Read it', ...handled },
    { id: 'B', instructions: 'Read it.', ...handled },
    { id: 'C', instructions: 'Read it.' },
  ]);

  const { inputs } = simulate(workflow, { runs: 1, agents: 1, seed: '1' });

  const [engine, first, agent] = inputs.filter(({ rate }) => rate === 'minutes').map(({ value }) => value);
  expect(first).toEqual(agent);
  expect(engine).not.toEqual(agent);
});
