import { expect, test } from 'vitest';
import { breathing } from './searches.ts';

test('a loop gives others their turn once it was at work for a while, and not at each step', async () => {
  let [time, turns] = [0, 0];
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const pause = breathing(() => time);

  for (let step = 0; step < 100; step += 1) await pause();
  expect(turns).toBe(0);
  for (let step = 0; step < 3; step += 1) {
    time += 10;
    await pause();
    await pause();
  }
  isOver = true;
  expect(turns).toBe(3);
});
