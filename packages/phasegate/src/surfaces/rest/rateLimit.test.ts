import { describe, expect, test } from 'vitest';
import { createFailureLimit } from './rateLimit.ts';

describe('a limit on failures', () => {
  test('is over with the first failure beyond it, for that address alone', () => {
    const { limit } = begun();

    expect([1, 2, 3].map(() => limit.failed('a').over)).toEqual([false, false, true]);
    expect(limit.failed('b').over).toBe(false);
  });

  test('says how long to wait, and forgets when that is over', () => {
    const { limit, pass } = begun();
    limit.failed('a');
    expect(limit.waitOf('a')).toBeNull();
    limit.failed('a');
    pass(1500);

    expect(limit.waitOf('a')).toBe(9);
    pass(8500);
    expect(limit.waitOf('a')).toBeNull();
    expect(limit.failed('a').over).toBe(false);
  });

  test('keeps no more addresses than it has room for', () => {
    const { limit } = begun();
    limit.failed('first');
    limit.failed('first');
    for (let count = 0; count < 10_000; count++) limit.failed(`address-${count}`);

    expect(limit.waitOf('first')).toBeNull();
    expect(limit.failed('address-9999').over).toBe(false);
    expect(limit.failed('address-9999').over).toBe(true);
  });
});

function begun() {
  let time = 1_000_000;
  const limit = createFailureLimit({ limit: 2, windowMs: 10_000, now: () => time });
  return {
    limit,
    pass: (ms: number) => {
      time += ms;
    },
  };
}
