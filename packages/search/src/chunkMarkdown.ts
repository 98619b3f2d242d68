import { atOnce, LINES_PER_STEP, type Steps } from './inSteps.ts';
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
  return atOnce(chunking(lines, start));
}

/** The same in steps. */
export function* chunking(lines: readonly string[], start: number): Steps<readonly Chunk[]> {
  const chunks: Chunk[] = [];
  for (const part of yield* joined(yield* sectionsOf(lines, start))) {
    for (const piece of yield* split(part)) {
      const chunk = chunkOf(piece);
      if (hasText(chunk)) chunks.push(chunk);
      yield;
    }
  }
  return chunks;
}

interface Part {
  readonly line: number;
  readonly paths: readonly Section['path'][];
  readonly lines: readonly string[];
  readonly fenced: readonly boolean[];
}

type Piece = Omit<Part, 'fenced'>;

/** A part that still takes in what follows. What its lines come to is counted as they come, not for each neighbour. */
interface Growing {
  readonly line: number;
  readonly paths: Section['path'][];
  readonly lines: string[];
  readonly fenced: boolean[];
  size: number;
  /** Lines that say something. */
  filled: number;
  /** Sections with a heading. */
  headed: number;
}

function* joined(sections: readonly Section[]): Steps<readonly Part[]> {
  const parts: Growing[] = [];
  for (const [index, { line, path, lines, fenced }] of sections.entries()) {
    if (index % LINES_PER_STEP === 0) yield;
    const part = growing({ line, paths: [path], lines, fenced });
    const before = parts.at(-1);
    if (before === undefined || !belongTogether(before, part)) parts.push(part);
    else takeIn(before, part);
  }
  return parts;
}

function growing({ line, paths, lines, fenced }: Part): Growing {
  const size = sizeOf(lines);
  return {
    line,
    paths: [...paths],
    lines: [...lines],
    fenced: [...fenced],
    size,
    // Nothing joins what is large, so nobody asks what it says.
    filled:
      size > LARGE
        ? size
        : lines.filter((text) => text.trim() !== '' && !/^(?:={3,}|-{3,})\s*$/.test(text)).length,
    headed: paths.filter((path) => path.length > 0).length,
  };
}

function takeIn(before: Growing, next: Growing): void {
  for (const path of next.paths) before.paths.push(path);
  for (const line of next.lines) before.lines.push(line);
  for (const is of next.fenced) before.fenced.push(is);
  before.size += next.size;
  before.filled += next.filled;
  before.headed += next.headed;
}

function belongTogether(before: Growing, next: Growing): boolean {
  if (before.size + next.size > LARGE) return false;
  // A heading with nothing under it says something only together with what follows.
  if (before.filled <= before.headed) return true;
  const [one, other] = [before.paths.at(-1), next.paths[0]];
  const sameSecond = one?.[0] === other?.[0] && one?.[1] === other?.[1];
  return sameSecond && (before.size < SMALL || next.size < SMALL);
}

/** Cuts at blank lines outside of fences, so that the pieces are as large as may be; a paragraph is cut where huge. */
function* split(part: Part): Steps<readonly Piece[]> {
  const { lines, fenced, paths } = part;
  if (sizeOf(lines) <= LARGE) return [part];
  const pieces: Sized[] = [];
  let from = 0;
  let size = 0;
  for (let index = 0; index < lines.length; index++) {
    if (index % LINES_PER_STEP === LINES_PER_STEP - 1) yield;
    const text = lines[index] ?? '';
    size += text.length + 1;
    const last = index + 1 === lines.length;
    if (!last && (fenced[index] || text.trim() !== '')) continue;
    const line = part.line + from;
    if (size > HUGE) for (const cut of cutHuge(lines.slice(from, index + 1), line)) put(pieces, cut);
    else if (!grow(pieces.at(-1), lines, { from, end: index + 1, size }))
      pieces.push({ line, lines: lines.slice(from, index + 1), size });
    from = index + 1;
    size = 0;
  }
  return pieces.map((piece) => ({ line: piece.line, paths, lines: piece.lines }));
}

interface Sized {
  readonly line: number;
  readonly lines: string[];
  size: number;
}

interface Paragraph {
  readonly from: number;
  readonly end: number;
  readonly size: number;
}

function put(pieces: Sized[], piece: Sized): void {
  const { lines, size } = piece;
  if (!grow(pieces.at(-1), lines, { from: 0, end: lines.length, size })) pieces.push(piece);
}

/** Adds lines to a piece that has room for them; false where it has none. */
function grow(piece: Sized | undefined, lines: readonly string[], { from, end, size }: Paragraph): boolean {
  if (piece === undefined || piece.size + size > LARGE) return false;
  for (let index = from; index < end; index++) piece.lines.push(lines[index] ?? '');
  piece.size += size;
  return true;
}

function cutHuge(texts: readonly string[], first: number): readonly Sized[] {
  const pieces: Sized[] = [];
  texts.forEach((text, index) => {
    for (const line of cutLine(text)) {
      const last = pieces.at(-1);
      if (last !== undefined && last.size + line.length <= LARGE) {
        last.lines.push(line);
        last.size += line.length + 1;
      } else pieces.push({ line: first + index, lines: [line], size: line.length + 1 });
    }
  });
  return pieces;
}

/** A line without end is cut between words where it has any. */
function cutLine(line: string): readonly string[] {
  if (line.length <= HUGE) return [line];
  return line.match(new RegExp(`[^]{1,${LARGE}}(?:\\s+|$)|[^]{1,${LARGE}}`, 'gu')) ?? [line];
}

function chunkOf({ line, paths, lines }: Piece): Chunk {
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
