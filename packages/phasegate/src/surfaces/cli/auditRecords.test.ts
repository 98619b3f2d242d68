import type { AuditRecord } from '@phasegate/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { byTime } from './auditRecords.ts';

const ANY = fc.array(
  fc.record({
    run: fc.constantFrom(null, 'run-a', 'run-b'),
    time: fc.integer({ min: 0, max: 9 }).map((second) => `2026-01-01T00:00:0${second}.000Z`),
  }),
  { maxLength: 12 },
);

test('every chain keeps its order, whatever times are in it, and nothing is left out', () => {
  fc.assert(
    fc.property(ANY, (drawn) => {
      const shown = byTime(numbered(drawn));

      for (const run of [null, 'run-a', 'run-b']) {
        const numbers = shown.filter((record) => record.run === run).map(({ seq }) => seq);
        expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      }
      expect(shown).toHaveLength(drawn.length);
    }),
    { numRuns: cases({ quick: 100, full: 10_000 }) },
  );
});

test('a completion stands behind the check that ran in it, and runs beside each other by time', () => {
  const at = (run: string, second: number) => ({ run, time: `2026-01-01T00:00:0${second}.000Z` });
  const shown = byTime(numbered([at('a', 1), at('a', 5), at('a', 2), at('b', 3), at('b', 6)]));

  expect(shown.map(({ run, seq }) => `${run} #${seq}`)).toEqual(['a #1', 'b #1', 'a #2', 'a #3', 'b #2']);
});

/** Records of chains as they were written. */
function numbered(drawn: readonly Pick<AuditRecord, 'run' | 'time'>[]): readonly AuditRecord[] {
  const numbers = new Map<string | null, number>();
  return drawn.map((one) => {
    const seq = (numbers.get(one.run) ?? 0) + 1;
    numbers.set(one.run, seq);
    return { ...one, seq } as AuditRecord;
  });
}
