import { expect, test } from 'vitest';
import { createKeptRows, type RunRow } from './runReader.ts';

test('a run that is larger than all may be pushes out no other, and is the first to go', () => {
  const kept = createKeptRows(100, 1000);
  const row = (id: string, stateLength: number) => ({ run: { id }, stateLength, stepsLength: 0 }) as RunRow;
  const small = Array.from({ length: 50 }, (_, index) => `r${index}`);
  for (const id of small) kept.keep(row(id, 10));

  for (const big of ['b1', 'b2', 'b1']) kept.keep(row(big, 5000));
  expect(small.every((id) => kept.get(id) !== undefined)).toBe(true);
  expect(kept.get('b1')).toBeDefined();
  expect(kept.get('b2')).toBeUndefined();

  // Of those that are too large together the largest goes, and of those that are too many the oldest.
  kept.keep(row('c1', 400));
  for (const id of ['c2', 'c3']) kept.keep(row(id, 300));
  expect([kept.get('b1'), kept.get('c1')]).toEqual([undefined, undefined]);
  expect(small.every((id) => kept.get(id) !== undefined)).toBe(true);
  for (let index = 0; index < 60; index += 1) kept.keep(row(`s${index}`, 1));
  expect(kept.get('r0')).toBeUndefined();
  expect(kept.get('s59')).toBeDefined();
});
