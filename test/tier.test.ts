import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { testFiles } from './testFiles.ts';
import { cases, seedFrom, someOf, TIER, tierFrom } from './tier.ts';
import { fixedCounts, hasLongCounts, readsTier } from './tierCounts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

describe('tiers', () => {
  test('are quick, and full or long where it is asked for; anything else is refused', () => {
    expect([undefined, 'quick', 'full', 'long'].map(tierFrom)).toEqual(['quick', 'quick', 'full', 'long']);
    for (const name of ['', 'Full', 'ful', 'all'])
      expect(() => tierFrom(name)).toThrow('`quick`, `full` or `long`');
    expect(cases({ quick: 1, full: 2 })).toBe(TIER === 'quick' ? 1 : 2);
  });

  test('try some of a list, from all over it, or all of it', () => {
    const all = [1, 2, 3, 4, 5, 6];

    expect(someOf(all, { quick: 2, full: 2 })).toEqual([1, 4]);
    expect(someOf(all, { quick: 4, full: 4 })).toEqual([1, 2, 4, 5]);
    expect(someOf(all, { quick: 9, full: 6 })).toEqual(all);
    expect(someOf([], { quick: 1, full: 1 })).toEqual([]);
  });

  test('draw the same random cases in a quick run and in CI, new ones otherwise, or those that are asked for', () => {
    const full = { PHASEGATE_TIER: 'full' };

    expect([{}, { PHASEGATE_TIER: 'quick' }, { ...full, CI: 'true' }].map(seedFrom)).toEqual([1, 1, 1]);
    expect([full, { ...full, CI: '' }, { PHASEGATE_TIER: 'long', CI: 'true' }].map(seedFrom)).toEqual(
      Array(3).fill(undefined),
    );
    expect(seedFrom({ ...full, PHASEGATE_SEED: '-1694' })).toBe(-1694);
    for (const named of ['', 'x', '1.5', '99999999999'])
      expect(() => seedFrom({ PHASEGATE_SEED: named })).toThrow('a whole number');
  });

  test('set the number of cases of every property', () => {
    const fixed = testFiles(root).flatMap((file) => fixedCounts(read(file)).map((line) => `${file}:${line}`));

    expect(fixed).toEqual([]);
  });

  test('are read by tests alone, so that what differs between them is known by its name', () => {
    const sources = ['packages', 'test', 'examples', 'bench'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((path) => `${folder}/${path}`)
        .filter((path) => /(?<!\.d)\.ts$/.test(path) && !/(^|\/)(node_modules|dist)\//.test(path)),
    );

    const readers = sources.filter((file) => readsTier(file, read(file)));

    expect(readers.filter((file) => !file.endsWith('.test.ts'))).toEqual([
      'test/everyFile.ts',
      'test/fullTier.ts',
      'test/longTier.ts',
    ]);
    expect(readers.length).toBeGreaterThan(30);
  });

  test('differ in the tests that are run again in the full one', () => {
    const { stdout, status } = run(['--differing', '--list']);
    const listed = stdout.trim().split('\n');

    expect(status).toBe(0);
    expect(listed).toContain('test/differential/differential.test.ts');
    expect(listed).toContain('packages/core/src/engine/properties.test.ts');
    expect(listed).not.toContain('test/layers.test.ts');
    expect(run(['--list']).stdout.trim().split('\n')).toEqual(testFiles(root));
    expect(run(['--diferring', '--list'])).toMatchObject({ status: 2, stdout: '' });
  });

  test('have counts for the long one where more of them find more', () => {
    const long = testFiles(root).filter((file) => hasLongCounts(read(file)));

    expect(long).toContain('test/e2e/crash.test.ts');
    expect(long.filter((file) => !readsTier(file, read(file)))).toEqual([]);
    expect(hasLongCounts('cases({ quick: 1, full: 2 }); const long = { long: 3 };')).toBe(false);
  });
});

test.each([
  ['a number', 'fc.assert(p, { numRuns: 100 });'],
  ['a number of another name', 'const COUNT = 100; fc.assert(p, { numRuns: COUNT });'],
  ['a short name', 'const numRuns = 100; fc.assert(p, { numRuns });'],
  ['options of another name', 'const RUNS = { numRuns: 300 }; fc.assert(p, RUNS);'],
  ['a sum', 'fc.sample(p, { numRuns: 10 * cases({ quick: 1, full: 2 }) });'],
  ['no number at all', 'fc.assert(fc.property(fc.nat(), (n) => n >= 0));'],
])('a property with %s is found', (_what, line) => {
  expect(fixedCounts(`import fc from 'fast-check';\n${line}`)).toContain(2);
});

test.each([
  'fc.assert(p, { numRuns: cases({ quick: 1, full: 2 }), seed: 4 });',
  'fc.sample(p, { numRuns: cases({ quick: 1, full: 2 }) });',
  'const numRuns = cases({ quick: 1, full: 2 }); fc.assert(p, { numRuns });',
  'const COUNT = cases({ quick: 1, full: 2 }); fc.assert(p, { numRuns: COUNT });',
  'const RUNS = { numRuns: cases({ quick: 1, full: 2 }) }; fc.assert(p, RUNS);',
  "import { cases as of } from './tier.ts'; fc.assert(p, { numRuns: of({ quick: 1, full: 2 }) });",
  '// fc.assert(p, { numRuns: 100 });',
])('a property that asks the tier is not: %s', (line) => {
  expect(fixedCounts(`import fc from 'fast-check';\n${line}`)).toEqual([]);
});

function run(words: readonly string[]) {
  return spawnSync(process.execPath, [join(root, 'test/fullTier.ts'), ...words], { encoding: 'utf8' });
}
