import { expect, test } from 'vitest';
import { createFairStarts } from './fairStarts.ts';

test('one of each name begins in a turn, no matter who came first and however many [adv.O5]', async () => {
  const starts = createFairStarts();
  const order: string[] = [];
  const ask = (name: string) => {
    const wait = starts.begin(name);
    if (wait === null) order.push(name);
    return wait?.then(() => void order.push(name));
  };

  const mallory = Array.from({ length: 4 }, () => ask('mallory'));
  const ada = Array.from({ length: 2 }, () => ask('ada'));
  await Promise.all([...mallory, ...ada]);

  expect(order).toEqual(['mallory', 'ada', 'mallory', 'ada', 'mallory', 'mallory']);
});

test('who waited for all of theirs begins at once again', async () => {
  const starts = createFairStarts();
  expect(starts.begin('ada')).toBeNull();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  expect(starts.begin('ada')).toBeNull();
  expect(starts.begin('bob')).toBeNull();
  expect(starts.begin('ada')).toBeInstanceOf(Promise);
});
