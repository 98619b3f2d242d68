import { describe, expect, test } from 'vitest';
import { hmacOf } from './hmac.ts';
import { createMasking } from './masking.ts';
import { secretsOf } from './secrets.ts';

const BEGIN = `-----BEGIN ${'PRIVATE KEY'}-----`;

/** Each begins secrets over and over, or one that never ends, of some twenty thousand characters and twice that. */
const BAD: readonly (readonly [string, (times: number) => string])[] = [
  ...[
    'AKIA',
    'ghp_',
    'github_pat_',
    'glpat-',
    'xoxb-',
    'AIza',
    'AIza-',
    'sk_live_',
    'npm_',
    'pypi-',
    'sk-',
  ].map((start) => [start, (times: number) => start.repeat(times)] as const),
  ['sk-ant-', (times) => 'sk-ant-'.repeat(times)],
  ['signed tokens', (times) => 'eyJ-'.repeat(times)],
  ['signed tokens that nearly are', (times) => 'eyJ-eyJhbGciOi.'.repeat(times)],
  ['one signed token', (times) => `${'eyJ-'.repeat(times)}.eyJ${'-eyJ'.repeat(times)}.`],
  ['starts of keys', (times) => BEGIN.repeat(times)],
  ['a key without an end', (times) => `${BEGIN}${'A'.repeat(9 * times)}`],
  ['a key of blanks', (times) => `${BEGIN}${' '.repeat(9 * times)}`],
  ['a key of words', (times) => `${BEGIN} ${`${'A'.repeat(20)} `.repeat(times)}`],
  ['kinds of keys', (times) => `-----BEGIN ${'RSA '.repeat(times)}`],
  ['addresses', (times) => 'ab://c:'.repeat(times)],
  ['users', (times) => `ab://${'c'.repeat(9 * times)}`],
  ['a password without an end', (times) => `ab://c:${'d'.repeat(9 * times)}`],
  ['schemes', (times) => 'ab.'.repeat(times)],
  ['masks', (times) => `masked-${'0123456789abcdef'}-5chars`.repeat(times)],
  ['an own pattern', (times) => `${'a'.repeat(9 * times)}!`],
];

describe('no text takes more than its length deserves', () => {
  const secrets = secretsOf(['(?:a+)+b', 'a|a*c']);
  const stepsFor = (text: string) => {
    const steps = { left: Number.MAX_SAFE_INTEGER };
    secrets.spans(text, steps);
    return Number.MAX_SAFE_INTEGER - steps.left;
  };

  test.each(BAD)('steps grow with the text and no faster: %s', (_, text) => {
    const once = stepsFor(text(2000));
    const twice = stepsFor(text(4000));

    expect(twice).toBeLessThan(2.2 * once);
    expect(once).toBeLessThan(250 * text(2000).length);
  });
});

test('a text that takes too many steps is masked whole, and says how long it was', () => {
  const own = createMasking(hmacOf(Buffer.from('a key')), ['a[abc]{4000}d']);
  const text = 'abcab'.repeat(4000);

  expect(own.mask({ text, other: 'short' })).toEqual({
    text: expect.stringMatching(/^masked-[0-9a-f]{16}-20000chars$/),
    other: 'short',
  });
});

test.each([
  ['overlapping matches are one', '[0-9a-f]{16}', '0123456789abcdef0123', [[0, 20]]],
  ['the longest counts, whatever is lazy', 'K-[0-9]+?', 'the key is K-123456, and', [[11, 19]]],
  ['the one that began first counts', 'abc|xabcdefy|def', '.......xabcdefy', [[7, 15]]],
  ['pairs of halves are one character', '.K-[0-9]+', '😀😀😀😀😀😀😀😀😀K-12', [[16, 22]]],
])('of patterns of authors, %s', (_, pattern, text, spans) => {
  const found = secretsOf([pattern]).spans(text, { left: 1_000_000 });

  expect(found?.map(({ from, to }) => [from, to])).toEqual(spans);
});
