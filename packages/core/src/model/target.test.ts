import { describe, expect, test } from 'vitest';
import { normaliseTarget, sameTarget, targetProblem, targetWithin } from './target.ts';

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
  ])('%j is shown as %j', (written, normal) => {
    expect(normaliseTarget(written)).toBe(normal);
    expect(normaliseTarget(normal)).toBe(normal);
    expect(sameTarget(written, normal)).toBe(true);
  });

  test('in another case is another one, and none is one of its own', () => {
    expect(sameTarget('A.ts', 'a.ts')).toBe(false);
    expect(sameTarget(null, 'a.ts')).toBe(false);
    expect(sameTarget(null, ' ')).toBe(true);
    expect(sameTarget(null, '\u200b')).toBe(true);
  });

  test.each([
    ...['\u200b', '\u200e', '\ufe0f', '\u0001', '\u00ad', '\u034f', '\u2060', '\u{e0001}', '\u2800'],
    ...['\u202e', '\n', '\u2028', '\ue000', '\u3164', '\uffa0'],
  ])('with %j in it is the same: it cannot be seen [adv.N13]', (unseen) => {
    for (const written of [
      `${unseen}src/a.ts`,
      `src/${unseen}a.ts`,
      `src/a.ts${unseen}`,
      `.${unseen}/src/a.ts`,
    ])
      expect(sameTarget(written, 'src/a.ts')).toBe(true);
  });

  test.each([
    ['\uff53\uff52\uff43/a.ts', 'src/a.ts'],
    ['src\uff0fa.ts', 'src/a.ts'],
    ['src\uff3ca.ts', 'src/a.ts'],
    ['lib/\uff0e\uff0e/src/a.ts', 'src/a.ts'],
    ['my\u00a0file', 'my file'],
    ['my\u1680file', 'my file'],
    ['\u3000a.ts', 'a.ts'],
    ['cafe\u200b\u0301.ts', 'caf\u00e9.ts'],
  ])('%j is the same as %j [adv.N13]', (written, plain) => {
    expect(sameTarget(written, plain)).toBe(true);
    expect(sameTarget(plain, written)).toBe(true);
  });

  test.each(['a\nb', 'a\r', '\u2028', 'a\u0085b', '\u001b[2J', '\u0000', '\t', 'a\ud800', '\udc00b'])(
    'cannot be %j [adv.N15]',
    (target) => {
      expect(targetProblem(target)).toMatch(/^the target `[^\p{Cc}]*` has .*leave those out$/u);
    },
  );

  test('may be any text on one line', () => {
    for (const target of ['src/a.ts', 'Issue 12: caf\u00e9 \u{1f600}', '', '../a'])
      expect(targetProblem(target)).toBe(null);
  });
});

describe('a path into the project', () => {
  test.each([
    ['/srv/app', '/srv/app/src/a.ts', 'src/a.ts'],
    ['/srv/app', '/srv//lib/../app/./src/a.ts', 'src/a.ts'],
    ['/srv/app', '../app/src/a.ts', 'src/a.ts'],
    ['/srv/app', '../../srv/app/a.ts', 'a.ts'],
    ['/srv/app', '/srv/\u200bapp/src/a.ts', 'src/a.ts'],
    ['/srv/app', '/srv/app/', '.'],
    ['C:\\app', 'C:\\app\\src\\a.ts', 'src/a.ts'],
    ['/srv/app', '/srv/apple/a.ts', '/srv/apple/a.ts'],
    ['/srv/app', '/srv/a.ts', '/srv/a.ts'],
    ['/srv/app', '../a.ts', '../a.ts'],
    ['/srv/app', './src/a.ts', './src/a.ts'],
    ['/srv/app', 'https://example.org/srv/app/a', 'https://example.org/srv/app/a'],
  ])('%s: %j is %j [adv.N13]', (root, written, inside) => {
    expect(targetWithin(root, written)).toBe(inside);
  });
});
