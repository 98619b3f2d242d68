import { expect, test } from 'vitest';
import { own } from '../json.ts';
import { type ChangedFile, diffSections, wholeFile } from './gateDiff.ts';

const file = (path: string, before: string, after: string): ChangedFile => ({
  path,
  how: 'changed',
  before: 'b'.repeat(64),
  after: 'a'.repeat(64),
  texts: { before, after },
});

test('a changed file is told as the lines that differ, with a few around them and both hashes', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
  const after = lines.map((line) => (line === 'line 10' ? 'LINE TEN' : line));

  const { diff } = diffSections({
    files: [file('src/a.ts', `${lines.join('\n')}\n`, `${after.join('\n')}\n`)],
  });

  expect(diff).toEqual([
    {
      path: 'src/a.ts',
      how: 'changed',
      before: 'b'.repeat(64),
      after: 'a'.repeat(64),
      added: 1,
      removed: 1,
      diff: [
        '@@ line 7',
        ' line 7',
        ' line 8',
        ' line 9',
        '-line 10',
        '+LINE TEN',
        ' line 11',
        ' line 12',
        ' line 13',
      ].join('\n'),
    },
  ]);
});

test('a long file takes no more than its share, and what is cut is counted and known by its hash', () => {
  const long = Array.from({ length: 5_000 }, (_, at) => `${at} ${'x'.repeat(900)}`).join('\n');

  const { diff } = diffSections({ files: [file('a.ts', '', long), file('z.ts', '', 'evil()\n')] });

  const [first, second] = diff as readonly [unknown, unknown];
  expect(String(own(first as never, 'diff')).length).toBeLessThan(60_000);
  expect(own(first as never, 'lines_cut')).toBeGreaterThan(4_000);
  expect(own(first as never, 'after')).toBe('a'.repeat(64));
  expect(own(second as never, 'diff')).toBe('@@ line 1\n+evil()');
});

test('nothing is written where nothing changed; files that found no room are counted with a hash over them', () => {
  expect(diffSections({ files: [] })).toEqual({});
  expect(diffSections({ files: [], rest: { files: 3, hash: 'h' } })).toEqual({
    diff_rest: { files: 3, hash: 'h' },
  });
});

test('nothing in a line of a file makes a line of the diff, whatever ends a line elsewhere', () => {
  const added = '// a note\u2028 evil()\n// another\r-harmless()\nx\v+y\fz\u0085 w\u2029 v\n';

  const { diff } = diffSections({ files: [file('a.js', 'same\n', `same\r\n${added}`)] });

  expect(own((diff as readonly [never])[0], 'diff')).toBe(
    [
      '@@ line 1',
      '-same',
      '+same\\u{d}',
      '+// a note\\u{2028} evil()',
      '+// another\\u{d}-harmless()',
      '+x\\u{b}+y\\u{c}z\\u{85} w\\u{2029} v',
    ].join('\n'),
  );
});

test('lines that are shown in part are counted, and other permissions are told', () => {
  const [before, after] = [`${' '.repeat(600)}safe()\n`, `${' '.repeat(600)}evil()\n`];

  const { diff } = diffSections({
    files: [{ ...file('a.sh', before, after), permissions: 'were 644, are 755' }],
  });

  expect(diff).toMatchObject([{ lines_shortened: 2, permissions: 'were 644, are 755' }]);
});

test('one file by itself has the lines that its card has no room for', () => {
  const text = `${Array.from({ length: 3000 }, (_, at) => `line ${at}`).join('\n')}\n`;
  const long = file('a', '', text);
  const [onCard] = diffSections({ files: [long] }).diff as readonly { lines_cut?: number }[];

  expect(onCard?.lines_cut).toBe(2801);
  expect(wholeFile(long)).toMatchObject({ added: 3000, diff: expect.stringContaining('+line 2999') });
  expect(wholeFile(long).lines_cut).toBeUndefined();
});
