import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../test/tier.ts';
import { type Chunk, chunkMarkdown, LARGE, SMALL } from './chunkMarkdown.ts';
import { documentOf } from './documentOf.ts';
import { atOnce } from './inSteps.ts';
import { type Section, sectionsOf } from './sectionsOf.ts';

const LINE = fc.constantFrom(
  ...['', '', '# One', '## Two', '## Other', '### Three', '#', '# a # ', '## [x](y) ![z](q)', '---', '==='],
  ...['```', '````', '``` js', '~~~', '~~~~~', '> ```', '- ```', 'Text', '- item', '> q'],
  ...['lorem ipsum '.repeat(15).trim(), `${'w '.repeat(700)}.`],
);

describe('the cost of a document', () => {
  test.each([
    ['fences one after the other', '```'],
    ['fences that open again and again', '```a'],
    ['tildes', '~~~'],
    ['headings', '# a'],
    ['bare headings', '#'],
    ['blank lines', ''],
    ['list items', '- a'],
  ])('grows as its length does: %s', (_, line) => {
    expect(readsOf(Array.from({ length: 4000 }, () => line))).toBeLessThan(20 * 4000);
  });

  test('grows as its length does where every fence is longer than what could close it', () => {
    const falling = Array.from(
      { length: 300 },
      (_, index) => '`'.repeat(303 - index) + 'a'.repeat(index % 2),
    );
    expect(readsOf([...falling, ...Array.from({ length: 4000 }, () => '')])).toBeLessThan(20 * 4300);
  });

  test('lines are not looked at again when a section takes in its neighbour', () => {
    const trim = String.prototype.trim;
    let trims = 0;
    // Counts the work, as every look at a line trims it.
    String.prototype.trim = function counted(this: string) {
      trims++;
      return trim.call(this);
    };
    try {
      chunkMarkdown(
        Array.from({ length: 4000 }, () => '# a'),
        0,
      );
    } finally {
      String.prototype.trim = trim;
    }
    expect(trims).toBeLessThan(10 * 4000);
  });

  test.each([
    ['brackets', `# ${'['.repeat(300_000)}`],
    ['links without end', `# ${'[a]('.repeat(100_000)}`],
    ['underscores', `# a${'_'.repeat(300_000)}b`],
    ['blanks before a letter', `# a${' '.repeat(300_000)}b`],
    ['blanks before a separator', `#${' '.repeat(300_000)}\u2028`],
    ['keywords', `keywords:${' '.repeat(300_000)}a\u2028`],
    ['questions', `# ${'questions this '.repeat(30_000)}`],
    ['quotes', '>'.repeat(8_000_000)],
  ])('one long line is read, whatever is in it: %s', async (_, text) => {
    const { title } = await documentOf('docs/x.md', text);
    expect(title.length).toBeLessThanOrEqual(200);
  });

  test('a long heading is not written again for every chunk below it', async () => {
    const text = `# T\n\n## ${'word '.repeat(20_000)}\n\n${'Some words.\n\n'.repeat(4000)}`;
    const { chunks } = await documentOf('docs/x.md', text);
    expect(chunks.reduce((sum, { section }) => sum + section.length, 0)).toBeLessThan(text.length);
    expect(
      chunks
        .map(({ body }) => body)
        .join(' ')
        .match(/word\b/g),
    ).toHaveLength(20_000);
  });

  test('others have their turn while one document is read', async () => {
    let turns = 0;
    await documentOf('docs/x.md', '\n'.repeat(200_000), () => {
      turns++;
      return undefined;
    });
    expect(turns).toBeGreaterThan(200);
  });
});

test('sections and chunks are what adding up again for each neighbour comes to', () => {
  fc.assert(
    fc.property(fc.array(LINE, { maxLength: 60 }), fc.nat(2), (lines, start) => {
      const from = Math.min(start, lines.length);
      const sections = atOnce(sectionsOf(lines, from));
      expect(sections.flatMap(({ fenced }) => fenced)).toEqual(slowFences(lines, from).slice(from));
      const found = chunkMarkdown(lines, from);
      expect(found.map(({ line, body }) => ({ line, body }))).toEqual(slowChunks(sections));
    }),
    { numRuns: cases({ quick: 300, full: 10_000 }) },
  );
});

/** How often lines of the document are read. */
function readsOf(lines: readonly string[]): number {
  let reads = 0;
  const counted = new Proxy(lines, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  chunkMarkdown(counted, 0);
  return reads;
}

function slowFences(lines: readonly string[], start: number): readonly boolean[] {
  const fenced = lines.map(() => false);
  for (let index = start; index < lines.length; index++) {
    const mark = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s?)*(`{3,}|~{3,})([^`]*)$/.exec(lines[index] ?? '')?.[1];
    if (mark === undefined) continue;
    const close = new RegExp(`^[\\s>]*${mark[0]}{${mark.length},}\\s*$`);
    const end = lines.findIndex((line, at) => at > index && close.test(line));
    if (end === -1) continue;
    fenced.fill(true, index, end + 1);
    index = end;
  }
  return fenced;
}

type Slow = Pick<Section, 'line' | 'lines' | 'fenced'> & { readonly paths: readonly Section['path'][] };

function slowChunks(sections: readonly Section[]): readonly Pick<Chunk, 'line' | 'body'>[] {
  const parts: Slow[] = [];
  for (const { path, ...section } of sections) {
    const next = { ...section, paths: [path] };
    const before = parts.at(-1);
    if (before !== undefined && slowlyTogether(before, next))
      parts[parts.length - 1] = slowlyJoined(before, next);
    else parts.push(next);
  }
  return parts.flatMap(slowPieces).flatMap(({ line, lines }) => {
    const first = Math.max(
      lines.findIndex((text) => text.trim() !== ''),
      0,
    );
    const body = lines.join('\n').trim();
    return /[\p{L}\p{N}]/u.test(body) ? [{ line: line + first + 1, body }] : [];
  });
}

function slowlyTogether(before: Slow, next: Slow): boolean {
  const [first, second] = [sizeOf(before.lines), sizeOf(next.lines)];
  if (first + second > LARGE) return false;
  const filled = before.lines.filter((line) => line.trim() !== '' && !/^(?:={3,}|-{3,})\s*$/.test(line));
  if (filled.length <= before.paths.filter((path) => path.length > 0).length) return true;
  const [one, other] = [before.paths.at(-1), next.paths[0]];
  return one?.[0] === other?.[0] && one?.[1] === other?.[1] && (first < SMALL || second < SMALL);
}

function slowPieces(part: Slow): readonly Slow[] {
  if (sizeOf(part.lines) <= LARGE) return [part];
  const pieces: Slow[] = [];
  let from = 0;
  part.lines.forEach((text, index) => {
    if (index + 1 < part.lines.length && (text.trim() !== '' || part.fenced[index])) return;
    const lines = part.lines.slice(from, index + 1);
    for (const next of slowlyCut({ ...part, line: part.line + from, lines })) {
      const before = pieces.at(-1);
      const room = before !== undefined && sizeOf(before.lines) + sizeOf(next.lines) <= LARGE;
      if (room) pieces[pieces.length - 1] = slowlyJoined(before, next);
      else pieces.push(next);
    }
    from = index + 1;
  });
  return pieces;
}

/** A paragraph over twice the size, line by line: no line of these documents is huge by itself. */
function slowlyCut(part: Slow): readonly Slow[] {
  if (sizeOf(part.lines) <= 2 * LARGE) return [part];
  const cut: Slow[] = [];
  part.lines.forEach((text, index) => {
    const before = cut.at(-1);
    if (before !== undefined && sizeOf(before.lines) + text.length <= LARGE)
      cut[cut.length - 1] = { ...before, lines: [...before.lines, text] };
    else cut.push({ ...part, line: part.line + index, lines: [text] });
  });
  return cut;
}

function slowlyJoined(before: Slow, next: Slow): Slow {
  return {
    line: before.line,
    paths: [...before.paths, ...next.paths],
    lines: [...before.lines, ...next.lines],
    fenced: [...before.fenced, ...next.fenced],
  };
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
