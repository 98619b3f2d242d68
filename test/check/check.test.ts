import { expect, test } from 'vitest';
import { cases } from '../tier.ts';
import { noTally, tryCase } from './cases.ts';

test('what the check says of a workflow is what the engine does with its runs, whatever the world answers [adv.H4]', () => {
  const tally = noTally();
  const seeds = cases({ quick: 200, full: 2000 });

  for (let seed = 1; seed <= seeds; seed++) tryCase(seed, tally, 150);

  expect(tally.wrong).toEqual([]);
  // A test that looked at nothing proves nothing.
  expect(tally.workflows).toBeGreaterThan(0.24 * seeds);
  expect(tally.walks).toBeGreaterThan(1.2 * seeds);
  expect(tally.ended).toBeGreaterThan(0.8 * seeds);
  expect(tally.led).toBeGreaterThan(0.06 * seeds);
  expect(tally.stuck).toBeGreaterThan(0.04 * seeds);
  expect(tally.replayed).toBeGreaterThan(0.2 * seeds);
});
