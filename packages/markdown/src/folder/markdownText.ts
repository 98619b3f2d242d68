import { frontMatterOf, markdownHeading } from '@phasegate/core/model';

/** One line of a Markdown file. */
export interface MarkdownLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** Inside a fence, on one of its two marks, or in the front matter. */
  readonly aside: 'fence' | 'front_matter' | null;
}

/** A heading with its level. */
export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** The lines of a file, each with whether it is prose. Line ends may be LF or CRLF. */
export function linesOf(text: string): readonly MarkdownLine[] {
  const lines = text.split(/\r?\n/);
  const { end } = frontMatterOf(lines);
  let fence: string | null = null;
  return lines.map((line, index): MarkdownLine => {
    const number = index + 1;
    if (number <= end) return { number, text: line, aside: 'front_matter' };
    const mark = FENCE.exec(line);
    if (fence === null) {
      if (mark === null || (mark[1]?.startsWith('`') && mark[2]?.includes('`')))
        return { number, text: line, aside: null };
      fence = mark[1] as string;
      return { number, text: line, aside: 'fence' };
    }
    if (mark !== null && closes(fence, mark)) fence = null;
    return { number, text: line, aside: 'fence' };
  });
}

/** The headings outside fences and front matter, in order. */
export function headingsOf(lines: readonly MarkdownLine[]): readonly Heading[] {
  return lines.flatMap((line) => {
    const heading = line.aside === null ? headingAt(line.text) : null;
    return heading === null ? [] : [{ ...heading, line: line.number }];
  });
}

/** The heading a line is, or null. */
export function headingAt(text: string): { readonly level: number; readonly text: string } | null {
  const heading = markdownHeading(text);
  return heading === null ? null : { level: heading.level, text: plain(heading.text) };
}

/** Whether a file says anything beside headings, rules and blank lines. */
export function hasProse(lines: readonly MarkdownLine[]): boolean {
  return lines.some(
    ({ text, aside }) =>
      aside !== 'front_matter' &&
      /[\p{L}\p{N}]/u.test(text) &&
      (aside === 'fence' || headingAt(text) === null),
  );
}

function closes(open: string, mark: RegExpExecArray): boolean {
  const [, ticks = '', rest = ''] = mark;
  return ticks[0] === open[0] && ticks.length >= open.length && rest.trim() === '';
}

/** A heading's words without emphasis and code marks. */
function plain(text: string): string {
  return text.replace(/\*\*|__|`/g, '').trim();
}
