import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../test/tier.ts';
import { markdownHeading } from './markdownHeading.ts';

test('a heading is what the pattern for it says', () => {
  const line = fc.array(fc.constantFrom(' ', '\t', '#', '##', 'a', '\u2028'), { maxLength: 12 });
  fc.assert(
    fc.property(line, (parts) => {
      const text = parts.join('');
      const match = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/.exec(text);
      const expected = match && { level: match[1]?.length, text: match[2] ?? '' };
      expect(markdownHeading(text)).toEqual(expected);
    }),
    { numRuns: cases({ quick: 1000, full: 100_000 }) },
  );
});

test('a long line of blanks is read once', () => {
  expect(markdownHeading(`# a${' '.repeat(1_000_000)}b ##`)?.text.length).toBe(1_000_002);
  expect(markdownHeading(`#${' '.repeat(1_000_000)}\u2028`)).toBeNull();
});
