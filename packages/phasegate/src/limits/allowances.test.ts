import { expect, test } from 'vitest';
import { createAllowances } from './allowances.ts';

test('what a name took comes back with time, up to what it had, and another one has its own', () => {
  let time = 0;
  const { take } = createAllowances({ most: 100, perSecond: 10, now: () => time });

  expect([take('ada', 60), take('ada', 60), take('ada', 40), take('ada', 1)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(take('bob', 100)).toBe(true);
  time = 1000;
  expect([take('ada', 10), take('ada', 1)]).toEqual([true, false]);
  time = 60_000;
  expect([take('ada', 101), take('ada', 100), take('bob', 100)]).toEqual([false, true, true]);
  // A clock that is set back gives nothing, and keeps nobody waiting until it is there again.
  time = 50_000;
  expect(take('ada', 1)).toBe(false);
  time = 50_100;
  expect([take('ada', 1), take('ada', 1)]).toEqual([true, false]);
});
