import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { compileIgnoreRules, type RuleFile } from './ignoreRules.ts';

describe('ignore rules', () => {
  test('are what git makes of the same files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ignore-'));
    git(folder, ['init', '-q']);
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 6 }),
        fc.array(line, { maxLength: 4 }),
        paths,
        (top, inner, asked) => {
          writeFileSync(join(folder, '.gitignore'), top.join('\n'));
          mkdirSync(join(folder, 'a'), { recursive: true });
          writeFileSync(join(folder, 'a/.gitignore'), inner.join('\n'));
          const files: RuleFile[] = [
            { base: '', lines: top },
            { base: 'a', lines: inner },
          ];
          const rules = compileIgnoreRules(files);

          const ours = asked.filter((path) => rules.ignoresWithin(path));

          expect({ top, inner, ours }).toEqual({ top, inner, ours: ignoredByGit(folder, asked) });
        },
      ),
      { numRuns: cases({ quick: 60, full: 1000 }) },
    );
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['*.log', 'deep/er/x.log', true],
    ['/build', 'build', true],
    ['/build', 'src/build', false],
    ['dist/', 'dist/x', true],
    ['dist/', 'dist', false],
    ['docs/**/x', 'docs/x', true],
    ['docs/**/x', 'docs/a/b/x', true],
    ['a/**', 'a', false],
    ['*\n!keep', 'keep', false],
    ['out/\n!out/keep', 'out/keep', true],
    ['\\#x', '#x', true],
    ['x\\ ', 'x ', true],
    ['[a-c]x', 'bx', true],
    ['[', '[', false],
  ])('%j leaves out %j: %j', (text, path, expected) => {
    const rules = compileIgnoreRules([{ base: '', lines: text.split('\n') }]);

    expect(rules.ignoresWithin(path)).toBe(expected);
  });

  test('of a repository around the workspace count from where they stand', () => {
    const rules = compileIgnoreRules([
      { base: '', above: 'packages/one/', lines: ['/packages/one/gen', 'one/x'] },
    ]);

    expect(['gen', 'x', 'src/gen'].map((path) => rules.ignoresWithin(path))).toEqual([true, false, false]);
  });

  test('that try many ways answer at once', () => {
    const rules = compileIgnoreRules([
      { base: '', lines: [`${'*a'.repeat(60)}b`, `${'**/a/'.repeat(30)}b`] },
    ]);

    expect(rules.ignoresWithin('a'.repeat(5000))).toBe(false);
    expect(rules.ignoresWithin(`${'a/'.repeat(500)}c`)).toBe(false);
  });
});

const piece = fc.constantFrom(
  'a',
  'b',
  'ab',
  '.x',
  '*',
  '?',
  'a*',
  '*b',
  '[ab]',
  '[!a]',
  '[a-b]x',
  '\\*',
  'a?',
  '**',
  'a**b',
);
const line = fc
  .tuple(
    fc.constantFrom('', '', '', '!'),
    fc.constantFrom('', '', '/'),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', ' ', '/**'),
  )
  .map(([negation, start, pieces, end]) => `${negation}${start}${pieces.join('/')}${end}`);
const name = fc.constantFrom('a', 'b', 'ab', 'aab', '.x', 'x', 'bx', '*', 'c');
const paths = fc
  .array(fc.array(name, { minLength: 1, maxLength: 4 }), { minLength: 5, maxLength: 20 })
  .map((all) => [...new Set(all.map((names) => names.join('/')))].filter((path) => path !== 'a'));

function ignoredByGit(folder: string, asked: readonly string[]): readonly string[] {
  const out = git(folder, ['check-ignore', '--no-index', '-z', '--stdin'], asked.join('\0'));
  const found = new Set(out.split('\0'));
  return asked.filter((path) => found.has(path));
}

function git(folder: string, words: readonly string[], input = ''): string {
  const env = { PATH: process.env.PATH, HOME: dirname(folder), GIT_CONFIG_NOSYSTEM: '1' };
  try {
    return execFileSync('git', words, { cwd: folder, env, input, encoding: 'utf8' });
  } catch (error) {
    // 1: none is ignored.
    const { status, stdout } = error as { status: number; stdout: string };
    if (status === 1) return stdout;
    throw error;
  }
}
