import { type Section, sectionsOf } from './sectionsOf.ts';

/** A passage small enough to read and large enough to understand. */
export interface Chunk {
  /** The line it starts at, from 1. */
  readonly line: number;
  /** Where it stands: `Second > Third`, below the title. */
  readonly section: string;
  /** Every heading it lies under or holds. */
  readonly headings: readonly string[];
  readonly body: string;
}

/** A section shorter than this joins its neighbour under the same second-level heading. */
export const SMALL = 300;
/** A section longer than this is cut at blank lines. */
export const LARGE = 2000;
/** A paragraph is cut only beyond this: an argument is better whole than even. */
const HUGE = 4000;

/** Cuts a document into chunks; every line of text is in exactly one of them. */
export function chunkMarkdown(lines: readonly string[], start: number): readonly Chunk[] {
  return joined(sectionsOf(lines, start)).flatMap(split).map(chunkOf).filter(hasText);
}

interface Part {
  readonly line: number;
  readonly paths: readonly Section['path'][];
  readonly lines: readonly string[];
  readonly fenced: readonly boolean[];
}

function joined(sections: readonly Section[]): readonly Part[] {
  const parts: Part[] = [];
  for (const { line, path, lines, fenced } of sections) {
    const part: Part = { line, paths: [path], lines, fenced };
    const before = parts.at(-1);
    if (before === undefined || !belongTogether(before, part)) parts.push(part);
    else {
      parts[parts.length - 1] = {
        line: before.line,
        paths: [...before.paths, path],
        lines: [...before.lines, ...lines],
        fenced: [...before.fenced, ...fenced],
      };
    }
  }
  return parts;
}

function belongTogether(before: Part, next: Part): boolean {
  const [first, second] = [sizeOf(before.lines), sizeOf(next.lines)];
  if (first + second > LARGE) return false;
  // A heading with nothing under it says something only together with what follows.
  if (isBare(before)) return true;
  const [one, other] = [before.paths.at(-1), next.paths[0]];
  const sameSecond = one?.[0] === other?.[0] && one?.[1] === other?.[1];
  return sameSecond && (first < SMALL || second < SMALL);
}

function isBare({ lines, paths }: Part): boolean {
  const filled = lines.filter((line) => line.trim() !== '' && !/^(?:={3,}|-{3,})\s*$/.test(line));
  return filled.length <= paths.filter((path) => path.length > 0).length;
}

function split(part: Part): readonly Part[] {
  if (sizeOf(part.lines) <= LARGE) return [part];
  const pieces: Part[] = [];
  for (const piece of paragraphsOf(part)) {
    const before = pieces.at(-1);
    const room = before !== undefined && sizeOf(before.lines) + sizeOf(piece.lines) <= LARGE;
    if (!room) pieces.push(piece);
    else {
      pieces[pieces.length - 1] = {
        ...before,
        lines: [...before.lines, ...piece.lines],
        fenced: [...before.fenced, ...piece.fenced],
      };
    }
  }
  return pieces;
}

/** Runs of lines up to a blank one; a code fence holds together while it is not huge. */
function paragraphsOf(part: Part): readonly Part[] {
  const paragraphs: Part[] = [];
  let from = 0;
  const cut = (end: number) => {
    const lines = part.lines.slice(from, end);
    const fenced = part.fenced.slice(from, end);
    paragraphs.push(...cutHuge({ line: part.line + from, paths: part.paths, lines, fenced }));
    from = end;
  };
  for (let index = 0; index < part.lines.length; index++) {
    const blank = (part.lines[index] ?? '').trim() === '';
    if (blank && !part.fenced[index] && index + 1 < part.lines.length) cut(index + 1);
  }
  cut(part.lines.length);
  return paragraphs;
}

function cutHuge(part: Part): readonly Part[] {
  if (sizeOf(part.lines) <= HUGE) return [part];
  const pieces: { line: number; lines: string[]; size: number }[] = [];
  part.lines.forEach((text, index) => {
    for (const line of cutLine(text)) {
      const last = pieces.at(-1);
      if (last !== undefined && last.size + line.length <= LARGE) {
        last.lines.push(line);
        last.size += line.length + 1;
      } else pieces.push({ line: part.line + index, lines: [line], size: line.length + 1 });
    }
  });
  return pieces.map(({ line, lines }) => ({
    line,
    paths: part.paths,
    lines,
    fenced: lines.map(() => false),
  }));
}

/** A line without end is cut between words where it has any. */
function cutLine(line: string): readonly string[] {
  if (line.length <= HUGE) return [line];
  return line.match(new RegExp(`[^]{1,${LARGE}}(?:\\s+|$)|[^]{1,${LARGE}}`, 'gu')) ?? [line];
}

function chunkOf({ line, paths, lines }: Part): Chunk {
  const headings = [...new Set(paths.flat().filter((heading) => heading !== undefined && heading !== ''))];
  const [first = []] = paths.filter((path) => path.length > 1);
  const blank = lines.findIndex((text) => text.trim() !== '');
  return {
    line: line + Math.max(blank, 0) + 1,
    section: first.slice(1).filter(Boolean).join(' > '),
    headings: headings as readonly string[],
    body: lines.join('\n').trim(),
  };
}

function hasText({ body }: Chunk): boolean {
  return /[\p{L}\p{N}]/u.test(body);
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}
