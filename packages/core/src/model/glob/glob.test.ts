import { matchesGlob } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { compileGlob, globProblem, matchGlob } from './glob.ts';

describe('a glob matches', () => {
  test.each([
    [
      'docs/**',
      ['docs/a.md', 'docs/a/b/c.md', 'docs/.hidden', './docs/a.md'],
      ['docs', 'docsx/a', 'x/docs/a'],
    ],
    [
      '**',
      ['a', 'a/b', '.git/config'],
      ['', '/etc/passwd', '../a', 'a/../b', 'a//b', 'a/', './', 'a/./b', 'a\0b'],
    ],
    ['**/*.ts', ['a.ts', 'x/a.ts', 'x/y/.ts'], ['a.tsx', 'a.ts/b']],
    [
      'src/**/test/*.ts',
      ['src/test/a.ts', 'src/a/b/test/a.ts'],
      ['src/a.ts', 'test/a.ts', 'src/test/a/b.ts'],
    ],
    ['*', ['a', '.a'], ['a/b']],
    ['*.md', ['a.md', '.md'], ['a.mdx', 'd/a.md']],
    ['a*b*c', ['abc', 'aXbYc', 'abbcc', 'abcbc'], ['ab', 'acb', 'aXbY']],
    ['?.ts', ['a.ts', '\u{1F600}.ts'], ['ab.ts', '.ts', '/.ts']],
    ['[abc].ts', ['a.ts', 'c.ts'], ['d.ts', 'ab.ts']],
    ['[a-c0].ts', ['b.ts', '0.ts'], ['-.ts', 'd.ts']],
    ['[!a-c].ts', ['d.ts', '-.ts'], ['a.ts', '/.ts']],
    ['[]x].ts', ['].ts', 'x.ts'], ['a.ts']],
    ['[a-].ts', ['-.ts', 'a.ts'], ['b.ts']],
    ['[*].ts', ['*.ts'], ['a.ts']],
    ['{src,test}/**', ['src/a', 'test/a/b'], ['lib/a', 'src']],
    ['{src/**,docs}/x', ['src/x', 'src/a/x', 'docs/x'], ['docs/a/x']],
    ['a.{ts,{m,c}js}', ['a.ts', 'a.mjs', 'a.cjs'], ['a.js', 'a.{ts,{m,c}js}']],
    ['a{,.test}.ts', ['a.ts', 'a.test.ts'], ['a..ts']],
    ['[{,}].ts', ['{.ts', ',.ts', '}.ts'], ['a.ts']],
    ['./src/*', ['src/a', './src/a'], ['src/a/b']],
    ['a.c', ['a.c'], ['abc', 'A.C']],
    ['(a|b)+$', ['(a|b)+$'], ['a', 'ab']],
  ])('%s', (pattern, matching, others) => {
    expect(globProblem(pattern)).toBeNull();
    expect(matching.filter((path) => !matchGlob(pattern, path))).toEqual([]);
    expect(others.filter((path) => matchGlob(pattern, path))).toEqual([]);
  });
});

describe('a glob that could mean something else is refused', () => {
  test.each([
    ['', 'is empty'],
    ['/etc/**', 'is absolute'],
    ['.//etc', 'is absolute'],
    ['C:/x', 'is absolute'],
    ['../x', 'contains `..`'],
    ['a/../b', 'contains `..`'],
    ['{a,..}/x', 'contains `..`'],
    ['.{.,a}/x', 'contains `..`'],
    ['a/./b', 'contains a `.` segment'],
    ['a//b', 'contains an empty segment'],
    ['{,a}/b', 'is absolute'],
    ['src/', 'everything below a folder is written `folder/**`'],
    ['a\\b', 'contains a backslash'],
    ['a\0b', 'contains a NUL character'],
    ['src/**.ts', '`**` stands alone between slashes'],
    ['***', '`**` stands alone between slashes'],
    ['[ab', 'has a `[` without a `]`'],
    ['[a/b]', 'has a `[` without a `]`'],
    ['{a,b', 'has a `{` without a `}`'],
    ['a}', 'has a `}` without a `{`'],
    ['{a}', 'around a single choice'],
    ['{a,b}'.repeat(9), 'more than 256 globs'],
    ['{a,b}'.repeat(150), 'more than 256 globs'],
    ['a'.repeat(1001), 'longer than 1000 characters'],
  ])('%s', (pattern, problem) => {
    expect(globProblem(pattern)).toContain(problem);
    expect(() => compileGlob(pattern)).toThrow(expect.objectContaining({ code: 'workflow_invalid' }));
  });
});

test('matching takes time in proportion to glob and path, however many stars there are', () => {
  const path = `${'a/'.repeat(5000)}b`;
  const name = 'a'.repeat(20_000);

  // Each of these takes minutes or more when stars are tried one inside the other.
  expect(matchGlob('**/**/**/**/**/**/**/**/a', path)).toBe(false);
  expect(matchGlob('**/a/**/a/**/a/**/a/**/c', path)).toBe(false);
  expect(matchGlob('*a*a*a*a*a*a*a*a*b', name)).toBe(false);
  expect(matchGlob('**/*a*a*a*a*a*a*b', `${'a/'.repeat(100)}${name}`)).toBe(false);
});

test('matching agrees with a plain definition by search', () => {
  const segment = fc
    .array(fc.constantFrom('a', 'b', '*', '?', '[ab]'), { minLength: 1, maxLength: 3 })
    .map((s) => s.join(''));
  const pattern = fc
    .array(fc.oneof(segment, fc.constant('**')), { minLength: 1, maxLength: 5 })
    .map((s) => s.join('/'));
  const path = fc
    .array(fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 5,
    })
    .map((s) => s.join('/'));
  fc.assert(
    fc.property(pattern, path, (glob, candidate) => {
      fc.pre(globProblem(glob) === null && !/(^|\/)\.\.?(\/|$)/.test(candidate));

      expect(matchGlob(glob, candidate)).toBe(bySearch(glob.split('/'), candidate.split('/')));
    }),
    { numRuns: cases({ quick: 1000, full: 25_000 }) },
  );
});

test('matching agrees with Node, which has another way and the same words for what is plain', () => {
  const segment = fc
    .array(fc.constantFrom('a', 'b', 'c.ts', '*', '?', '[ab]', '{a,b}', '{,b}c'), {
      minLength: 1,
      maxLength: 3,
    })
    // Two stars beside others mean something else there.
    .map((parts) => parts.join('').replaceAll(/\*{2,}/g, '*'));
  const pattern = fc
    .array(fc.oneof(segment, fc.constant('**')), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'))
    .filter((glob) => !glob.endsWith('**') && globProblem(glob) === null);
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.ts'), minLength: 1, maxLength: 4 });
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(pattern, path, (glob, candidate) => {
      // A name that begins with a dot is one like any other to us.
      fc.pre(!/(?:^|\/)\./.test(candidate));

      expect([glob, candidate, matchGlob(glob, candidate)]).toEqual([
        glob,
        candidate,
        matchesGlob(candidate, glob),
      ]);
    }),
    { numRuns: cases({ quick: 500, full: 10_000 }) },
  );
});

function bySearch(globs: readonly string[], segments: readonly string[]): boolean {
  const [glob, ...rest] = globs;
  const [segment, ...others] = segments;
  if (glob === undefined) return segments.length === 0;
  if (glob === '**' && rest.length === 0) return segments.length > 0;
  if (glob === '**') return bySearch(rest, segments) || (segment !== undefined && bySearch(globs, others));
  const expression = glob.replaceAll('*', '[^/]*').replaceAll('?', '[^/]');
  return segment !== undefined && new RegExp(`^${expression}$`).test(segment) && bySearch(rest, others);
}
