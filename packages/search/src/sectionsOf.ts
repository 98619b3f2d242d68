import { markdownHeading } from '@phasegate/core/model';

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
export function sectionsOf(lines: readonly string[], start: number): readonly Section[] {
  const fenced = fencedLines(lines, start);
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
  const marked = markdownHeading(line);
  if (marked !== null) return { level: marked.level, text: plain(marked.text) };
  // The other spelling: a line of text underlined by `===` or `---`.
  const under = fenced[index + 1] ? '' : (lines[index + 1] ?? '');
  if (!/^(?:={3,}|-{3,})[ \t]*$/.test(under) || !/^[^\s>|*+#-]/.test(line)) return null;
  if (index > 0 && (lines[index - 1] ?? '').trim() !== '') return null;
  return { level: under.startsWith('=') ? 1 : 2, text: plain(line) };
}

/** A heading without its emphasis, code marks and links. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]+|(?<!\w)_+|_+(?!\w)/g, '')
    .trim();
}

function fencedLines(lines: readonly string[], start: number): readonly boolean[] {
  const fenced: boolean[] = Array.from({ length: lines.length }, () => false);
  // A fence that is opened again and again without end must not be looked for again and again.
  const endless = new Set<string>();
  for (let index = start; index < lines.length; index++) {
    const open = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s?)*(`{3,}|~{3,})([^`]*)$/.exec(lines[index] ?? '');
    const mark = open?.[1];
    if (mark === undefined || endless.has(mark)) continue;
    const end = endOfFence(lines, index, mark);
    if (end === -1) {
      endless.add(mark);
      continue;
    }
    fenced.fill(true, index, end + 1);
    index = end;
  }
  return fenced;
}

function endOfFence(lines: readonly string[], open: number, mark: string): number {
  const close = new RegExp(`^[\\s>]*${mark[0]}{${mark.length},}\\s*$`);
  return lines.findIndex((line, index) => index > open && close.test(line));
}
