import { readFileSync } from 'node:fs';
import { ERROR_CODES } from '@phasegate/core';
import { expect, test } from 'vitest';
import { readUnion } from './surface/readUnion.ts';

const page = read('docs/errors.md');

test('docs/errors.md has exactly the fault codes of core', () => {
  expect(rowsUnder('Faults').map((row) => row.code)).toEqual(Object.keys(ERROR_CODES));
});

test('docs/errors.md has exactly the blocker codes of the engine', () => {
  const codes = readUnion(read('packages/core/src/engine/verdict.ts'), 'BlockerCode');

  expect(rowsUnder('Refusals').map((row) => row.code)).toEqual(codes);
});

test('every row says what the code means and what to do next', () => {
  const poor = [...rowsUnder('Faults'), ...rowsUnder('Refusals')].filter(
    ({ meaning, next }) => meaning === '' || next === '',
  );

  expect(poor).toEqual([]);
});

test('a union that is made of anything but strings is not guessed at', () => {
  expect(readUnion("export type A =\n  | 'b' // not 'c'\n  | 'd';", 'A')).toEqual(['b', 'd']);
  expect(() => readUnion("type A = 'b' | C;", 'A')).toThrow('holds `C`');
  expect(() => readUnion("type A = 'b';", 'B')).toThrow('no union type `B`');
});

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

function rowsUnder(heading: string): readonly { code: string; meaning: string; next: string }[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) \|$/gm)].map(
    ([, code = '', meaning = '', next = '']) => ({ code, meaning: meaning.trim(), next: next.trim() }),
  );
}
