import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { lineDiff } from './lineDiff.ts';

test('what is removed and added is told where it stands', () => {
  const told = lineDiff(['a', 'b', 'c', 'd'], ['a', 'c', 'x', 'd']).map(
    ({ kind, text }) => `${kind} ${text}`,
  );

  expect(told).toEqual(['same a', 'removed b', 'same c', 'added x', 'same d']);
});

test('of any two texts, what stays and is removed is the old one, what stays and is added the new one', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(before, after);
      const without = (kind: string) => diff.filter((line) => line.kind !== kind).map(({ text }) => text);
      expect(without('added')).toEqual(before);
      expect(without('removed')).toEqual(after);
      expect(diff.filter(({ kind }) => kind === 'same').length).toBe(common(before, after));
    }),
    { numRuns: cases({ quick: 200, full: 5_000 }) },
  );
});

test('texts that have nothing in common are told whole, however long', () => {
  const old = Array.from({ length: 3_000 }, (_, at) => `old ${at}`);
  const fresh = Array.from({ length: 3_000 }, (_, at) => `new ${at}`);

  expect(lineDiff(old, fresh)).toHaveLength(6_000);
});

/** How many lines two lists have in common in their order, by the plain table. */
function common(one: readonly string[], other: readonly string[]): number {
  const table = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = 1; i <= one.length; i += 1)
    for (let j = 1; j <= other.length; j += 1) {
      const [above, left, corner] = [
        table[i - 1]?.[j] ?? 0,
        table[i]?.[j - 1] ?? 0,
        table[i - 1]?.[j - 1] ?? 0,
      ];
      (table[i] as number[])[j] = one[i - 1] === other[j - 1] ? corner + 1 : Math.max(above, left);
    }
  return table[one.length]?.[other.length] ?? 0;
}
