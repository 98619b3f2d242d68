import { expect, test } from 'vitest';
import { onceForAll } from './onceForAll.ts';

test('all who ask meanwhile share the next answer, which is made after a rest and never before they asked', async () => {
  const made: PromiseWithResolvers<number>[] = [];
  const rests: PromiseWithResolvers<void>[] = [];
  const ask = onceForAll(
    () => {
      made.push(Promise.withResolvers<number>());
      return (made.at(-1) as PromiseWithResolvers<number>).promise;
    },
    () => {
      rests.push(Promise.withResolvers<void>());
      return (rests.at(-1) as PromiseWithResolvers<void>).promise;
    },
  );

  const first = ask();
  const others = [ask(), ask(), ask()];
  expect(made).toHaveLength(1);
  made[0]?.resolve(1);
  expect(await first).toBe(1);
  const more = ask();
  expect(made).toHaveLength(1);
  rests[0]?.resolve();
  await expect.poll(() => made.length).toBe(2);
  made[1]?.resolve(2);

  expect(await Promise.all([...others, more])).toEqual([2, 2, 2, 2]);
});

test('what fails fails those who asked for it, and nobody after them', async () => {
  let fails = true;
  const ask = onceForAll(
    async () => {
      if (fails) throw new Error('it is away');
      return 'here';
    },
    async () => undefined,
  );

  const asked = await Promise.allSettled([ask(), ask()]);
  fails = false;

  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe('here');
});
