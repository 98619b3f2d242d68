import { expect, test } from 'vitest';
import { lazy, lazyPort } from './lazyPort.ts';

class Counter {
  #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  async add(many: number): Promise<number> {
    this.#count += many;
    return this.#count;
  }

  async close(): Promise<void> {
    this.#count = 0;
  }
}

function lazyCounter() {
  let made = 0;
  const counter = lazy(async () => {
    made += 1;
    return new Counter(10);
  });
  return { port: lazyPort(counter, { calls: ['add'], ends: ['close'] }), times: () => made };
}

test('is made by the first call, once, and answers every call', async () => {
  const { port, times } = lazyCounter();
  expect(times()).toBe(0);

  expect(await Promise.all([port.add(1), port.add(2)])).toEqual([11, 13]);
  await port.close();

  expect(await port.add(1)).toBe(1);
  expect(times()).toBe(1);
});

test('ending what was never made makes nothing', async () => {
  const { port, times } = lazyCounter();

  await port.close();

  expect(times()).toBe(0);
});

test('what cannot be made fails the call that asked for it', async () => {
  const port = lazyPort(
    lazy(async (): Promise<Counter> => {
      throw new Error('no room');
    }),
    { calls: ['add'], ends: ['close'] },
  );

  await expect(port.add(1)).rejects.toThrow('no room');
});
