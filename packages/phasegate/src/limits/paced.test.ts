import { expect, test } from 'vitest';
import { createPaced } from './paced.ts';

test('work of one name waits for the rest after the last, also where that failed, and nobody else does [adv.O5]', async () => {
  const rests: (() => void)[] = [];
  const paced = createPaced({
    what: 'searches',
    waiting: 1,
    later: (milliseconds) => {
      expect(milliseconds).toBeLessThanOrEqual(2000);
      return new Promise((resolve) => rests.push(resolve));
    },
  });
  const done: string[] = [];
  const work = (name: string) => paced.act(name, async () => void done.push(name));

  await expect(paced.act('ada', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  const second = work('ada');
  await expect(work('ada')).rejects.toMatchObject({ code: 'rate_limited' });
  await work('bob');
  expect(done).toEqual(['bob']);

  for (const rest of rests.splice(0)) rest();
  await second;
  expect(done).toEqual(['bob', 'ada']);
});
