import { describe, expect, test } from 'vitest';
import { normaliseTarget, sameTarget } from './target.ts';

describe('a target', () => {
  test.each([
    ['a.ts ', 'a.ts'],
    ['\ta.ts\n', 'a.ts'],
    ['./src//a.ts', 'src/a.ts'],
    ['src\\a.ts', 'src/a.ts'],
    ['lib/../src/a.ts', 'src/a.ts'],
    ['src/./a.ts/', 'src/a.ts'],
    ['../a.ts', '../a.ts'],
    ['../../a.ts', '../../a.ts'],
    ['src/../../a.ts', '../a.ts'],
    ['/../a.ts', '/a.ts'],
    ['/srv//a.ts', '/srv/a.ts'],
    ['cafe\u0301.ts', 'caf\u00e9.ts'],
    ['https://example.org//x/../y', 'https://example.org/y'],
    ['./', '.'],
    ['  ', ''],
    ['A.ts', 'A.ts'],
  ])('%j is compared as %j', (written, normal) => {
    expect(normaliseTarget(written)).toBe(normal);
    expect(normaliseTarget(normal)).toBe(normal);
    expect(sameTarget(written, normal)).toBe(true);
  });

  test('in another case is another one, and none is one of its own', () => {
    expect(sameTarget('A.ts', 'a.ts')).toBe(false);
    expect(sameTarget(null, 'a.ts')).toBe(false);
    expect(sameTarget(null, ' ')).toBe(true);
  });
});
