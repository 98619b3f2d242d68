import { markdownHeading } from '@phasegate/core/model';
import { LINES_PER_STEP, type Steps } from './inSteps.ts';

/** The text from one heading to the next. */
export interface Section {
  /** From 0, in the whole document. */
  readonly line: number;
  /** Headings from the outermost to its own, by level; the first is the document's title. */
  readonly path: readonly (string | undefined)[];
  readonly lines: readonly string[];
  /** For each line, whether it is inside a code fence. */
  readonly fenced: readonly boolean[];
}

/** Cuts Markdown at its headings. What stands in a code fence is not a heading; a fence without end is no fence. */
export function* sectionsOf(lines: readonly string[], start: number): Steps<readonly Section[]> {
  const fenced = yield* fencedLines(lines, start);
  const sections: Section[] = [];
  let path: (string | undefined)[] = [];
  let from = start;
  const close = (end: number) => {
    if (end === from) return;
    sections.push({
      line: from,
      path: [...path],
      lines: lines.slice(from, end),
      fenced: fenced.slice(from, end),
    });
    from = end;
  };
  for (let index = start; index < lines.length; index++) {
    if (index % LINES_PER_STEP === 0) yield;
    if (fenced[index]) continue;
    const heading = headingAt(lines, index, fenced);
    if (heading === null) continue;
    close(index);
    path = Array.from({ length: heading.level }, (_, level) =>
      level === heading.level - 1 ? heading.text : path[level],
    );
  }
  close(lines.length);
  return sections;
}

interface Heading {
  readonly level: number;
  readonly text: string;
}

function headingAt(lines: readonly string[], index: number, fenced: readonly boolean[]): Heading | null {
  const line = lines[index] ?? '';
  if (line === '') return null;
  const marked = markdownHeading(line);
  if (marked !== null) return { level: marked.level, text: plain(marked.text) };
  // The other spelling: a line of text underlined by `===` or `---`.
  const under = fenced[index + 1] ? '' : (lines[index + 1] ?? '');
  if (!/^(?:={3,}|-{3,})[ \t]*$/.test(under) || !/^[^\s>|*+#-]/.test(line)) return null;
  if (index > 0 && (lines[index - 1] ?? '').trim() !== '') return null;
  return { level: under.startsWith('=') ? 1 : 2, text: plain(line) };
}

/** A heading without its emphasis, code marks and links; its words in full are in the text. */
function plain(text: string): string {
  const short = text.length > MOST_LOOKED_AT ? text.slice(0, MOST_LOOKED_AT) : text;
  return shortened(
    withoutLinks(short)
      .replace(/[*`]+|_+/g, (marks, at: number, all: string) =>
        marks.startsWith('_') && isWord(all[at - 1]) && isWord(all[at + marks.length]) ? marks : '',
      )
      .trim(),
  );
}

/** Headings and titles are kept with every chunk below them: what is longer is cut. */
export function shortened(title: string): string {
  return title.length <= LONGEST_HEADING
    ? title
    : title
        .slice(0, LONGEST_HEADING)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd();
}

const LONGEST_HEADING = 200;
/** Nothing behind this many characters of a heading is still among its first words. */
const MOST_LOOKED_AT = 4000;

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}

/** `[words](address)` as `words`. Each bracket is looked for once, however many stand open before it. */
function withoutLinks(text: string): string {
  const closing = nextIn(text, ']');
  const ending = nextIn(text, ')');
  let plainText = '';
  let from = 0;
  for (let open = text.indexOf('['); open !== -1; open = text.indexOf('[', Math.max(open + 1, from))) {
    const close = closing(open + 1);
    if (close === -1) break;
    const end = text[close + 1] === '(' ? ending(close + 2) : -1;
    if (end === -1) continue;
    const start = open > from && text[open - 1] === '!' ? open - 1 : open;
    plainText += text.slice(from, start) + text.slice(open + 1, close);
    from = end + 1;
  }
  return plainText + text.slice(from);
}

/** Where a character next stands; asked for from further and further on. */
function nextIn(text: string, character: string): (from: number) => number {
  let found = -2;
  return (from) => {
    if (found === -2 || (found !== -1 && found < from)) found = text.indexOf(character, from);
    return found;
  };
}

/** For each line, whether it is in a fence. Every line is looked at a fixed number of times, whatever is open. */
function* fencedLines(lines: readonly string[], start: number): Steps<readonly boolean[]> {
  const fenced: boolean[] = Array.from({ length: lines.length }, () => false);
  const closers: string[] = [];
  for (const line of lines) {
    if (closers.push(closerOf(line)) % LINES_PER_STEP === 0) yield;
  }
  const longest = longestFrom(closers);
  for (let index = start; index < lines.length; index++) {
    if (index % LINES_PER_STEP === 0) yield;
    const mark = openerOf(lines[index] ?? '');
    // Looked for only where it is known to be found, so that what is looked at is in the fence, too.
    if (mark === '' || longest(mark, index + 1) < mark.length) continue;
    let end = index + 1;
    while (!closes(closers[end] ?? '', mark)) end++;
    fenced.fill(true, index, end + 1);
    index = end;
  }
  return fenced;
}

const OPENER = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s?)*(`{3,}|~{3,})([^`]*)$/;
const CLOSER = /^[\s>]*(`{3,}|~{3,})\s*$/;

/** The mark that opens a fence on a line; empty where none does. A line without end is data that somebody pasted. */
function openerOf(line: string): string {
  if (line.length < 3 || line.length > MOST_LOOKED_AT || !MARK.test(line)) return '';
  return OPENER.exec(line)?.[1] ?? '';
}

function closerOf(line: string): string {
  if (line.length < 3 || line.length > MOST_LOOKED_AT || !MARK.test(line)) return '';
  return CLOSER.exec(line)?.[1] ?? '';
}

const MARK = /```|~~~/;

function closes(closer: string, mark: string): boolean {
  return closer.length >= mark.length && closer[0] === mark[0];
}

/** The length of the longest mark of the same kind that closes a fence on a line or below it. */
function longestFrom(closers: readonly string[]): (mark: string, index: number) => number {
  const ticks = new Int32Array(closers.length + 1);
  const tildes = new Int32Array(closers.length + 1);
  for (let index = closers.length - 1; index >= 0; index--) {
    const closer = closers[index] ?? '';
    ticks[index] = Math.max(ticks[index + 1] ?? 0, closer.startsWith('`') ? closer.length : 0);
    tildes[index] = Math.max(tildes[index + 1] ?? 0, closer.startsWith('~') ? closer.length : 0);
  }
  return (mark, index) => (mark.startsWith('`') ? ticks : tildes)[index] ?? 0;
}
