import { expect, test } from 'vitest';
import { createDatabaseClock } from './clock.ts';

test('the clock of a database goes on by counting, and never back', () => {
  let counted = 1000;
  const clock = createDatabaseClock(() => counted);
  clock.told(50_000);
  const first = clock.now();
  counted += 500;
  const second = clock.now();
  // A word that was long on its way.
  clock.told(50_100);
  const third = clock.now();
  counted += 70_000;
  clock.told(10_000);

  expect([first, second, third]).toEqual([50_000, 50_500, 50_500]);
  expect(clock.now()).toBeGreaterThanOrEqual(third);
});
