import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { chunkMarkdown, LARGE } from './chunkMarkdown.ts';

describe('chunkMarkdown', () => {
  test('cuts at headings and remembers where each chunk stands', () => {
    const chunks = chunksOf(
      `# Title\n\n${filler(400)}\n\n## One\n\n${filler(400)}\n\n### Deep\n\n${filler(400)}\n`,
    );

    expect(chunks.map(({ line, section }) => [line, section])).toEqual([
      [1, ''],
      [5, 'One'],
      [9, 'One > Deep'],
    ]);
    expect(chunks[2]?.headings).toEqual(['Title', 'One', 'Deep']);
  });

  test('a heading in a code fence is code', () => {
    const chunks = chunksOf(
      `# Title\n\n\`\`\`sh\n# not a heading\n\`\`\`\n\n~~~\n## nor this\n~~~\n\n${filler(400)}`,
    );

    expect(chunks).toHaveLength(1);
    expect(chunks[0]?.headings).toEqual(['Title']);
  });

  test('a fence without end loses no heading after it', () => {
    const chunks = chunksOf(`# Title\n\n${filler(400)}\n\n\`\`\`js\nlet a;\n\n## After\n\n${filler(400)}\n`);

    expect(chunks.map(({ section }) => section)).toEqual(['', 'After']);
  });

  test('small sections under the same second-level heading are joined, others are not', () => {
    const chunks = chunksOf('# T\n\nText.\n\n## A\n\nOne.\n\n### B\n\nTwo.\n\n## C\n\nThree.\n');

    expect(chunks.map(({ section }) => section)).toEqual(['', 'A', 'C']);
    expect(chunks[1]?.body).toContain('Two.');
    expect(chunks[1]?.headings).toEqual(['T', 'A', 'B']);
  });

  test('a heading with nothing under it goes with what follows', () => {
    expect(chunksOf('# T\n\n## A\n\nOne.\n').map(({ body }) => body)).toEqual(['# T\n\n## A\n\nOne.']);
  });

  test('a long section is cut at blank lines and keeps its lines', () => {
    const paragraphs = Array.from({ length: 9 }, (_, index) => `p${index} ${filler(500)}`);

    const chunks = chunksOf(`# T\n\n${paragraphs.join('\n\n')}\n`);

    expect(chunks.length).toBeGreaterThan(2);
    for (const { body, line } of chunks) {
      expect(body.length).toBeLessThanOrEqual(LARGE);
      const [first = ''] = /p\d/.exec(body) ?? [];
      expect(line).toBe(first === 'p0' ? 1 : 3 + 2 * Number(first.slice(1)));
    }
  });

  test('underlined headings, CRLF-free text and emphasis in headings are understood', () => {
    const chunks = chunksOf(
      `Title\n=====\n\n${filler(400)}\n\nPart *two* [link](x)\n---\n\n${filler(400)}\n`,
    );

    expect(chunks.map(({ headings }) => headings)).toEqual([['Title'], ['Title', 'Part two link']]);
  });

  test('two megabytes in a single line are cut and complete', () => {
    const text = 'word '.repeat(400_000);

    const chunks = chunksOf(text);

    expect(chunks.every(({ body }) => body.length <= LARGE)).toBe(true);
    expect(chunks.map(({ body }) => body).join(' ')).toBe(text.trim());
  });

  test('no word is lost, whatever the text', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '# One',
        '## Two',
        '### Three',
        '```',
        '~~~',
        '---',
        '===',
        '- item',
        '> quote',
        '    code',
      ),
      fc.lorem({ maxCount: 60 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const found = chunkMarkdown(lines, 0).flatMap(({ body }) => body.match(/[a-z]+/gi) ?? []);
        expect(found).toEqual(lines.flatMap((text) => text.match(/[a-z]+/gi) ?? []));
      }),
      { numRuns: cases({ quick: 100, full: 2000 }) },
    );
  });
});

function chunksOf(text: string) {
  return chunkMarkdown(text.split('\n'), 0);
}

function filler(length: number): string {
  return 'lorem ipsum dolor '
    .repeat(Math.ceil(length / 18))
    .slice(0, length)
    .trim();
}
