/** The heading that a line of Markdown is by its `#`, with its words as written; null for any other line. */
export function markdownHeading(line: string): { readonly level: number; readonly text: string } | null {
  const [lead, marks] = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line) ?? [];
  if (lead === undefined || marks === undefined || BREAK.test(line)) return null;
  // By hand: a pattern that looks for the closing marks behind every blank of a long line looks for ever.
  const start = afterBlanks(line, lead.length);
  const end = beforeBlanks(line, line.length, start);
  let closing = end;
  while (closing > start && line[closing - 1] === '#') closing--;
  const isClosed = closing < end && closing > start && isBlank(line[closing - 1]);
  const text = line.slice(start, isClosed ? beforeBlanks(line, closing, start) : end);
  return { level: marks.length, text };
}

/** What ends a line for some, and not for those who cut the document into lines. */
const BREAK = /[\n\r\u2028\u2029]/;

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

function afterBlanks(line: string, from: number): number {
  let index = from;
  while (isBlank(line[index])) index++;
  return index;
}

function beforeBlanks(line: string, from: number, least: number): number {
  let index = from;
  while (index > least && isBlank(line[index - 1])) index--;
  return index;
}
