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

/** In two parts, as nobody should take them for real ones. */
const KINDS: readonly (readonly [string, string])[] = [
  ...['AKIA', 'ASIA'].map((start) => [start, 'ABCDEFGHIJ012345'] as const),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'npm_'].map((start) => [start, 'a1'.repeat(18)] as const),
  ...['github_pat_', 'glpat-', 'pypi-', 'sk-', 'sk-ant-'].map((start) => [start, 'a1'.repeat(30)] as const),
  ...[...'abeoprs'].map((kind) => [`xox${kind}-`, '1234567890'] as const),
  ['AIza', 'a1b2c'.repeat(7)],
  ['sk_live_', 'a1'.repeat(8)],
  ['rk_live_', 'a1'.repeat(8)],
  ['eyJ', 'hbGciOiJ.eyJzdWIiOiIx.c2lnbmF0dXJl'],
  [BEGIN, `\n${'MC4CAQAwBQYDK2Vw'.repeat(3)}\n`],
  ['postgres', '://user:secret-word@host'],
];

test.each(KINDS)(
  'a text with nothing else in it is looked through for what begins with %s',
  (start, rest) => {
    const text = `note ${start}${rest} .`;

    expect(secretsOf([]).spans(text, { left: 1_000_000 })).toHaveLength(1);
  },
);

test('a text without any such word takes no steps', () => {
  expect(secretsOf([]).spans('what was done in this phase '.repeat(100), { left: 0 })).toEqual([]);
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
