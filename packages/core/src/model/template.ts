const PLACEHOLDER = /\\?\[([A-Z][A-Z0-9_]*)\](?!\()/g;
const FILLED = /\\?\[([A-Z][A-Z0-9_]*)\](?!\()|\\[[\]]/g;

/**
 * Names of the placeholders of a template, each once. None are a Markdown link such as `[API](…)`, one behind a
 * backslash, and, unless a value is known for it, one in code or in a comment.
 */
export function placeholdersIn(template: string): readonly string[] {
  const asides = asideRanges(template);
  const found = [...template.matchAll(PLACEHOLDER)].filter(
    ({ 0: text, index }) => !text.startsWith('\\') && !isWithin(asides, index),
  );
  return [...new Set(found.map((match) => match[1] as string))];
}

/**
 * The template with its placeholders filled, and `\[` as a plain bracket. What is put in is not looked at again: a
 * value is not a template.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const asides = asideRanges(template);
  return template.replace(FILLED, (text, name: string | undefined, offset: number) => {
    const known = name !== undefined && Object.hasOwn(values, name);
    if (!text.startsWith('\\')) return known ? (values[name] as string) : text;
    // In code a backslash is the code's own, but for one before what would be filled.
    return known || !isWithin(asides, offset) ? text.slice(1) : text;
  });
}

/** From where to where, the end not included. */
export type TextRange = readonly [from: number, to: number];

/** Whether an offset lies in one of the ranges, which are in order. */
export function isWithin(ranges: readonly TextRange[], offset: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as TextRange)[1] <= offset) low = middle + 1;
    else high = middle;
  }
  return low < ranges.length && (ranges[low] as TextRange)[0] <= offset;
}

/** Code blocks, code spans and comments of a Markdown text, in order. What is never closed is an aside to its end. */
export function asideRanges(text: string): readonly TextRange[] {
  const ranges: TextRange[] = [];
  const mark = /^ {0,3}(`{3,}|~{3,})[^\n]*$|<!--|`+|\n[ \t]*\n/gm;
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    const end = endOf(text, match);
    if (end === null) continue;
    ranges.push([match.index, end]);
    mark.lastIndex = Math.max(end, mark.lastIndex);
  }
  return ranges;
}

function endOf(text: string, match: RegExpExecArray): number | null {
  const [found, fence] = match;
  const from = match.index + found.length;
  if (fence !== undefined && !(fence.startsWith('`') && found.trimStart().slice(fence.length).includes('`')))
    return closingFence(text, fence, from);
  if (found === '<!--') return closing(text, '-->', from);
  if (!found.startsWith('`')) return null;
  const ticks = /^`+/.exec(found)?.[0] ?? '';
  return closingTicks(text, ticks, match.index + ticks.length);
}

function closing(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
}

function closingFence(text: string, fence: string, from: number): number {
  const close = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*\\r?$`, 'gm');
  close.lastIndex = from;
  const match = close.exec(text);
  return match === null ? text.length : match.index + match[0].length;
}

/** A code span ends at as many ticks as it began with, within its paragraph; else the ticks are only ticks. */
function closingTicks(text: string, ticks: string, from: number): number | null {
  const run = /`+|\n[ \t]*\n/g;
  run.lastIndex = from;
  for (let match = run.exec(text); match !== null; match = run.exec(text)) {
    if (!match[0].startsWith('`')) return null;
    if (match[0].length === ticks.length) return match.index + ticks.length;
  }
  return null;
}
