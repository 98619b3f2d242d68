// What reads Markdown here is held to the reference implementation of CommonMark.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { frontMatterOf } from '@phasegate/core/model';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { headingsOf, linesOf } from '../packages/markdown/src/folder/markdownText.ts';
import { codeLines } from '../packages/markdown/src/sources/tasksMd/codeLines.ts';
import { atOnce } from '../packages/search/src/inSteps.ts';
import { sectionsOf } from '../packages/search/src/sectionsOf.ts';
import { blocksOf } from './markdown/blocksOf.ts';
import { cases } from './tier.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('fences and headings are where CommonMark has them', () => {
  const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((file) => [file, readFileSync(join(root, file), 'utf8').replaceAll('\r\n', '\n')] as const)
    .filter(([, text]) => frontMatterOf(text.split('\n')).end === 0);

  test('in every document of this repository, for workflows in folders', () => {
    expect(documents.length).toBeGreaterThan(150);
    for (const [file, text] of documents) expect([file, byFolders(text)]).toEqual([file, blocksOf(text)]);
  });

  test('in any arrangement of lines, for workflows in folders', () => {
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 25 }), (all) => {
        const text = all.join('\n');

        expect(byFolders(text)).toEqual(blocksOf(text));
      }),
      { numRuns: cases({ quick: 500, full: 20_000 }) },
    );
  });

  test('in every document of this repository, for the index, if each fence has an end', () => {
    const closed = documents.filter(([file]) => !BROKEN.some((name) => file.endsWith(`/${name}`)));
    for (const [file, text] of closed) expect([file, byIndex(text)]).toEqual([file, blocksOf(text)]);
  });
});

test('a sign at the end of a heading is part of it unless a blank stands before it', () => {
  expect(headingsOf(linesOf('## Using C#\n# One #\n#')).map(({ text }) => text)).toEqual([
    'Using C#',
    'One',
    '',
  ]);
});

test('the code of a tasks.md is what CommonMark takes for code, but where its author broke a fence', () => {
  const folder = join(root, 'packages/markdown/src/sources/fixtures');
  const files = readdirSync(folder).filter((file) => file.endsWith('.md'));
  const differ = files.filter((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
      .replace(/^\uFEFF/, '')
      .replaceAll('\r\n', '\n');
    const code = codeLines(text.split('\n')).flatMap((isCode, index) => (isCode ? [index + 1] : []));
    return JSON.stringify(withText(text, code)) !== JSON.stringify(withText(text, blocksOf(text).fenced));
  });

  expect(files.length).toBeGreaterThan(40);
  expect(differ).toEqual(BROKEN);
});

/** With fences that are nested or have no end. */
const BROKEN = ['broken-tail.md', 'nested-fences.md', 'orphan-fences.md', 'ten-tasks.md'];

const lines = fc.constantFrom(
  '',
  'text',
  '# One',
  '## Two ##',
  '###Three',
  '####### seven',
  '   # indented',
  '```',
  '```ts',
  '````',
  '~~~',
  '~~~ md',
  '  ```',
  '``` a`b',
  '#',
);

function byFolders(text: string) {
  const all = linesOf(text);
  return {
    fenced: withText(
      text,
      all.filter(({ aside }) => aside === 'fence').map(({ number }) => number),
    ),
    headings: headingsOf(all).map(({ line, level }) => ({ line, level })),
  };
}

function byIndex(text: string) {
  const sections = atOnce(sectionsOf(text.split('\n'), 0));
  return {
    fenced: withText(
      text,
      sections.flatMap(({ line, fenced }) => fenced.flatMap((is, at) => (is ? [line + at + 1] : []))),
    ),
    headings: sections.flatMap(({ line, path }) =>
      path.length === 0 ? [] : [{ line: line + 1, level: path.length }],
    ),
  };
}

function withText(text: string, numbers: readonly number[]): readonly number[] {
  const all = text.split('\n');
  return numbers.filter((number) => all[number - 1]?.trim() !== '');
}
