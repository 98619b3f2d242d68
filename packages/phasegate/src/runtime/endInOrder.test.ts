import { expect, test } from 'vitest';
import { endInOrder } from './endInOrder.ts';

test('what cannot be ended keeps nothing after it from being ended, and is told', async () => {
  const ended: number[] = [];
  const ends = [1, 2, 3, 4].map((number) => async () => {
    ended.push(number);
    if (number % 2 === 0) throw new Error(`${number} is away`);
  });

  await expect(endInOrder(ends)).rejects.toThrow('2 is away');

  expect(ended).toEqual([1, 2, 3, 4]);
});
