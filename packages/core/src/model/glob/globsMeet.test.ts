import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { globProblem, matchGlob } from './glob.ts';
import { globsMeet, literalGlob } from './globsMeet.ts';

test.each([
  ['migrations/????-*.sql', 'migrations/*.sql', true],
  ['migrations/[0-9]*', 'migrations/*.sql', true],
  ['**/*.sql', 'db/migrations/*.sql', true],
  ['{docs,db}/**', 'db/migrations/*.sql', true],
  ['*/migrations/0*l', 'db/migrations/*.sql', true],
  ['db/*/[!a].s?l', 'db/migrations/*.sql', true],
  ['**', 'a', true],
  ['a/**', 'a', false],
  ['docs/**', 'db/migrations/*.sql', false],
  ['**/*.md', 'db/migrations/*.sql', false],
  ['db/*.sql', 'db/migrations/*.sql', false],
  ['db/migrations/*.sqlx', 'db/migrations/*.sql', false],
  ['[a-c].db', '[d-f].db', false],
  ['[a-d].db', '[d-f].db', true],
  ['[!a].db', 'a.db', false],
])('%s and %s: %s', (one, other, meet) => {
  expect(globsMeet(one, other)).toBe(meet);
  expect(globsMeet(other, one)).toBe(meet);
});

test('a path is a glob of its own, whatever is in its name', () => {
  expect(globsMeet('data/*.db', literalGlob('data/a[b]{c,d}.db'))).toBe(true);
  expect(globsMeet('data/ab.db', literalGlob('data/a[b].db'))).toBe(false);
  expect(matchGlob(literalGlob('data/a[b]{c,d}.db'), 'data/a[b]{c,d}.db')).toBe(true);
});

test('globs meet exactly where some path matches both', () => {
  const name = fc
    .array(fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(''));
  const glob = fc
    .array(fc.oneof(name, fc.constant('**')), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('/'));
  const names = [
    'a',
    'b',
    'c',
    'aa',
    'ab',
    'ba',
    'bb',
    'ac',
    'ca',
    'bc',
    'cb',
    'cc',
    'aab',
    'bab',
    'abc',
    'bca',
  ];
  const paths = names.flatMap((one) => [
    one,
    ...names.flatMap((two) => [
      `${one}/${two}`,
      ...names.slice(0, 5).map((three) => `${one}/${two}/${three}`),
    ]),
  ]);
  fc.assert(
    fc.property(glob, glob, (one, other) => {
      fc.pre(globProblem(one) === null && globProblem(other) === null);
      const common = paths.find((path) => matchGlob(one, path) && matchGlob(other, path));

      if (common !== undefined) expect([globsMeet(one, other), common]).toEqual([true, common]);
      expect(globsMeet(one, other)).toBe(globsMeet(other, one));
    }),
    { numRuns: cases({ quick: 200, full: 5000 }) },
  );
});
