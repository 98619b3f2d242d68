import { expect, test } from 'vitest';
import { createBackOff } from './backOff.ts';

test('each program that ends at once makes the wait twice as long, up to thirty polls, until one works', () => {
  const back = createBackOff(2000, () => 0);

  const waits = Array.from({ length: 7 }, () => back.crashed());

  expect(waits.map(({ ms }) => ms)).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(waits.map(({ first }) => first)).toEqual([true, ...Array(6).fill(false)]);
  back.worked();
  expect(back.crashed()).toEqual({ ms: 2000, first: true });
});

test('what is left of the wait passes with time', () => {
  let time = 0;
  const back = createBackOff(2000, () => time);

  expect(back.left()).toBeLessThanOrEqual(0);
  back.crashed();
  time = 1500;
  expect(back.left()).toBe(500);
  time = 2000;
  expect(back.left()).toBe(0);
});
