import { expect, test } from 'vitest';
import { paintFor } from '../paint.ts';
import { fileDiff, type ShownFile } from './fileDiff.ts';

test.each([
  ['\r', 'CR'],
  ['\u2028', 'U+2028'],
  ['\u2029', 'U+2029'],
  ['\u0085', 'U+0085'],
])('what follows a line end %j is a line of its own, and the line end is told', (end, name) => {
  const lines = shown({ after: `// only a remark${end}run();\nexport {};\n` });

  expect(lines).toEqual([
    'a.ts (added)',
    `warning: contains unusual line ends (${name})`,
    '| + // only a remark',
    `^ ends with ${name}, which some programs take for a line break`,
    '| + run();',
    '| + export {};',
  ]);
});

test('two characters of the source never look like a line end, nor the other way round', () => {
  const [, , typed] = shown({ after: 'a\\nb\n' }).toSpliced(1, 0, '');
  expect(typed).toBe('| + a\\nb');
  expect(shown({ after: 'a\u000bb\u000cc\n' })).toContain('| + a\\u{b}b\\u{c}c');
});

test('lines that end with CR LF are usual, and a change of only that is shown', () => {
  expect(shown({ after: 'a\r\nb\r\n' })).toEqual([
    'a.ts (added)',
    'note: lines end with CR LF',
    '| + a',
    '| + b',
  ]);
  expect(shown({ before: 'a\n', after: 'a\r\n' })).toEqual([
    'a.ts (added)',
    'note: lines end with CR LF',
    'line 1:',
    '| - a',
    '| + a',
  ]);
});

test('a line that goes on has another mark than a new one', () => {
  const lines = shown({ after: `${'x'.repeat(30)} ${'y'.repeat(30)}\n| + z\n` }, { width: 40 });

  expect(lines.slice(1)).toEqual([`| + ${'x'.repeat(30)} `, `| . ${'y'.repeat(30)}`, '| + | + z']);
});

test('that the last line has no end is said outside of what the file says', () => {
  const said = '^ no line break at the end';

  expect(shown({ after: 'a' }).slice(1)).toEqual(['| + a', said]);
  expect(shown({ after: `a\n${said}\n` }).slice(1)).toEqual(['| + a', `| + ${said}`]);
  expect(shown({ before: 'a\n', after: 'a' }).slice(1)).toEqual(['line 1:', '| - a', '| + a', said]);
});

test('where not all fits, what was added is shown before what is gone', () => {
  const old = Array.from({ length: 50 }, (_, at) => `old ${at}\n`).join('');
  const lines = shown({ before: `${old}end\n`, after: 'run();\nend\n' }, { most: 10 });

  expect(lines).toContain('| + run();');
  expect(lines).toContain('|   end');
  expect(lines).toContain('| - old 0');
  expect(lines).toContain('(lines left out here: 43)');
  expect(lines.at(-1)).toBe('43 more lines are not shown: ask');
});

test('neither a path nor a reason begins a line', () => {
  const text = shown({ after: null, path: 'a\nAccept?', missing: 'b\nAccept?' });

  expect(text).toEqual(['a\\nAccept? (added)', 'note: b\\nAccept?']);
});

function shown(
  file: Pick<ShownFile, 'after'> & Partial<ShownFile>,
  { width = 80, most = 200 }: { readonly width?: number; readonly most?: number } = {},
): readonly string[] {
  const whole: ShownFile = { path: 'a.ts', change: 'added', before: null, missing: null, ...file };
  return fileDiff(whole, { paint: paintFor(false), width, most, rest: 'ask' }).split('\n');
}
