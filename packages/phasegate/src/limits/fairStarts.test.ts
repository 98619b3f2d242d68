import { expect, test } from 'vitest';
import { createFairStarts, createSingleStarts } from './fairStarts.ts';

test('one of each name begins after the other, no matter who came first and however many [adv.O5]', async () => {
  const starts = createFairStarts();
  const order: string[] = [];
  const ask = (name: string) => {
    const wait = starts.begin(name);
    if (wait === null) order.push(name);
    return wait?.then(() => void order.push(name));
  };

  const mallory = Array.from({ length: 4 }, () => ask('mallory'));
  const ada = Array.from({ length: 2 }, () => ask('ada'));
  await Promise.all([...mallory, ...ada]);

  expect(order).toEqual(['mallory', 'ada', 'mallory', 'ada', 'mallory', 'mallory']);
});

test('who waited for all of theirs begins at once again', async () => {
  const starts = createFairStarts();
  expect(starts.begin('ada')).toBeNull();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  expect(starts.begin('ada')).toBeNull();
  expect(starts.begin('bob')).toBeNull();
  expect(starts.begin('ada')).toBeInstanceOf(Promise);
});

test('those of one name begin in one turn while it is short', async () => {
  const turns = createTurnCount();
  const starts = createFairStarts(() => 0);
  const begunIn = await Promise.all(
    Array.from({ length: 50 }, async () => {
      await starts.begin('ada');
      return turns.now();
    }),
  );

  expect(new Set(begunIn)).toEqual(new Set([0, 1]));
  turns.stop();
});

test('a turn ends for those who keep it busy, and who comes then begins before them [adv.O5]', async () => {
  const turns = createTurnCount();
  let clock = 0;
  const starts = createFairStarts(() => clock);
  const order: string[] = [];
  const ask = async (name: string) => {
    await starts.begin(name);
    order.push(name);
    // What it does at once takes longer than a turn may.
    clock += 2;
    return turns.now();
  };

  const mallory = Array.from({ length: 4 }, () => ask('mallory'));
  await new Promise((resolve) => setImmediate(resolve));
  const ada = ask('ada');

  expect(await Promise.all(mallory)).toEqual([0, 1, 2, 3]);
  expect(await ada).toBe(1);
  expect(order).toEqual(['mallory', 'mallory', 'ada', 'mallory', 'mallory']);
  turns.stop();
});

test('of those whose work comes later one of each name begins in a turn, however little it does at first [adv.O5]', async () => {
  const turns = createTurnCount();
  const starts = createSingleStarts();
  const ask = async (name: string) => {
    await starts.begin(name);
    return turns.now();
  };

  const mallory = Array.from({ length: 4 }, () => ask('mallory'));
  const ada = Array.from({ length: 2 }, () => ask('ada'));

  expect(await Promise.all(mallory)).toEqual([0, 1, 2, 3]);
  expect(await Promise.all(ada)).toEqual([0, 1]);
  turns.stop();
});

/** Counts turns of the event loop. */
function createTurnCount() {
  let turn = 0;
  let next: NodeJS.Immediate;
  const count = () => {
    turn += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  return { now: () => turn, stop: () => clearImmediate(next) };
}
