import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { compilePattern } from './linearPattern.ts';
import { samplePattern } from './samplePattern.ts';

test.each([
  ['^test/'],
  ['^AC-\\d{2,}$'],
  ['^(feat|fix)(\\([a-z]+\\))?: .+$'],
  ['^[^a0]x$'],
  ['^(?:a|b){3}$'],
  ['^(?<year>\\d{4})-\\d$'],
  ['^a*?b+?$'],
  ['^\\.[\\w-]+$'],
  ['^[\\]\\\\]{2}$'],
  ['^\\u{1F600}\\x41\\cJ$'],
  ['^\\p{Lu}\\p{Script=Greek}$'],
  ['^([^\\s\\S]|b)$'],
  [''],
])('a text for the pattern %s matches it', (pattern) => {
  expect(samplePattern(pattern)).toMatch(new RegExp(pattern, 'u'));
});

test.each([['('], ['(?=a)a'], ['(a)\\1'], ['[^\\s\\S]'], ['a\\bb'], ['a^b']])(
  'there is no text for %s',
  (pattern) => {
    expect(samplePattern(pattern)).toBeNull();
  },
);

test('a text is one the language itself matches, whatever the pattern', () => {
  fc.assert(
    fc.property(patterns, (pattern) => {
      const text = samplePattern(pattern);

      // Without places in it, every pattern that can be used has a text.
      if (compilePattern(pattern).ok) expect(text).toMatch(new RegExp(pattern, 'u'));
      else expect(text).toBeNull();
    }),
    { numRuns: cases({ quick: 300, full: 20_000 }) },
  );
});

const patterns: fc.Arbitrary<string> = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'a',
      '-',
      'ä',
      '😀',
      '.',
      '[a-f]',
      '[^a-z0-9]',
      '\\d',
      '\\W',
      '\\s',
      '\\p{L}',
      '\\/',
      '\\t',
    ),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `${one}${other}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{3}', '{0,2}', '{2,}', '+?'))
      .map(([one, times]) => `(${one})${times}`),
  ),
})).pattern;
