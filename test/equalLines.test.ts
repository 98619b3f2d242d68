import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { comparedSources, equalLines, MOST_EQUAL } from './equalLines.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
test(`no ${MOST_EQUAL} equal lines stand in two files`, () => {
  const sources = comparedSources(root);
  expect(Object.keys(sources).length).toBeGreaterThan(1000);

  expect(equalLines(sources)).toEqual([]);
});

test('equal lines are found wherever they stand, and imports are not counted', () => {
  const part = Array.from({ length: MOST_EQUAL }, (_, index) => `const a${index} = ${index};`);
  const imports = Array.from({ length: MOST_EQUAL }, (_, index) => `import { b${index} } from './b.ts';`);
  const text = (lines: readonly string[]) => lines.join('\n');

  expect(equalLines({ 'a.ts': text(['x', ...part]), 'b.ts': text(['y', '', ...part]) })).toEqual([
    'a.ts:2 and b.ts:3',
  ]);
  expect(equalLines({ 'a.ts': text(part.slice(1)), 'b.ts': text(part.slice(1)) })).toEqual([]);
  expect(equalLines({ 'a.ts': text(imports), 'b.ts': text(imports) })).toEqual([]);
});
