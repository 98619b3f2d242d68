import { expect, test } from 'vitest';
import { noTally, tryCase } from './cases.ts';

test('what the check says of a workflow is what the engine does with its runs, whatever the world answers [adv.H4]', () => {
  const tally = noTally();

  for (let seed = 1; seed <= 500; seed++) tryCase(seed, tally, 150);

  expect(tally.wrong).toEqual([]);
  // A test that looked at nothing proves nothing.
  expect(tally.workflows).toBeGreaterThan(120);
  expect(tally.walks).toBeGreaterThan(600);
  expect(tally.ended).toBeGreaterThan(400);
  expect(tally.led).toBeGreaterThan(30);
  expect(tally.stuck).toBeGreaterThan(20);
  expect(tally.replayed).toBeGreaterThan(100);
});
