import { expect, test } from 'vitest';
import { createByTurns } from './byTurns.ts';

test('one piece is done at a time, of each name in turn, and each name keeps its order [adv.O5]', async () => {
  const turns = createByTurns();
  const order: string[] = [];
  let under = 0;
  const act = (name: string, what: string) =>
    turns.act(name, async () => {
      under += 1;
      expect(under).toBe(1);
      await Promise.resolve();
      order.push(what);
      under -= 1;
      return what;
    });

  const answers = await Promise.all([
    ...['m1', 'm2', 'm3', 'm4'].map((what) => act('mallory', what)),
    act('ada', 'a1'),
    act('bob', 'b1'),
    act('ada', 'a2'),
  ]);

  expect(order).toEqual(['m1', 'm2', 'a1', 'b1', 'm3', 'a2', 'm4']);
  expect(answers).toEqual(['m1', 'm2', 'm3', 'm4', 'a1', 'b1', 'a2']);
});

test('work that fails fails the one who asked for it, and the next begins', async () => {
  const turns = createByTurns();
  const failing = turns.act('ada', () => Promise.reject(new Error('no')));
  const next = turns.act('ada', async () => 'done');

  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
  expect(await turns.act('bob', async () => 'later')).toBe('later');
});
