import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('a name that has used its share up waits for itself, and nobody else does [adv.O5]', async () => {
  const turns = createTurns({ what: 'searches', atOnce: 2, waiting: 1 });
  const order: string[] = [];
  const [first] = [await turns.take('ada'), await turns.take('ada')];
  const third = turns.take('ada').then((end) => {
    order.push('ada again');
    return end;
  });

  (await turns.take('bob'))();
  order.push('bob');
  await expect(turns.take('ada')).rejects.toMatchObject({
    code: 'rate_limited',
    message: '`ada` has too many searches under way',
  });
  first();
  first();
  await third;

  expect(order).toEqual(['bob', 'ada again']);
  await expect(Promise.race([turns.take('ada'), Promise.resolve('waits')])).resolves.toBe('waits');
});
