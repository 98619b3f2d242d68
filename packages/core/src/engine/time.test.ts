import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { addSeconds } from './time.ts';

test('adding seconds agrees with the calendar of the platform', () => {
  const instant = fc.date({
    min: new Date('1970-01-01T00:00:00Z'),
    max: new Date('2400-01-01T00:00:00Z'),
    noInvalidDate: true,
  });

  fc.assert(
    fc.property(instant, fc.integer({ min: 0, max: 400_000_000 }), (date, seconds) => {
      const expected = new Date(date.getTime() + seconds * 1000).toISOString();

      expect(addSeconds(date.toISOString(), seconds)).toBe(expected);
    }),
    { numRuns: cases({ quick: 400, full: 10_000 }) },
  );
});

test('what is not an instant is refused', () => {
  expect(() => addSeconds('yesterday', 1)).toThrow(/an instant looks like/);
});
