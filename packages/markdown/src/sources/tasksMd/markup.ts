/** A checkbox at the start of a bullet. */
export type Box = 'none' | 'open' | 'ticked';

/** The heading on a line of Markdown, if it is one. */
export function headingOf(raw: string): { readonly level: number; readonly text: string } | null {
  const match = /^ {0,3}(#{1,6})(?:[ \t]+(\S.*))?$/.exec(raw);
  if (match === null) return null;
  return { level: (match[1] ?? '').length, text: (match[2] ?? '').replace(/[ \t]#+$/, '').trim() };
}

/** The bullet on a line of Markdown, if it is one. */
export function bulletOf(
  raw: string,
): { readonly indent: number; readonly box: Box; readonly text: string } | null {
  const match = /^([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)$/.exec(raw);
  if (match === null) return null;
  const indent = columns(match[1] ?? '');
  const rest = match[2] ?? '';
  const box = /^\\?\[(?:([ xX✓✔✅~/>-])\\?\]\*?(?![([])|\](?=[ \t]|$))[ \t]*(.*)$/u.exec(rest);
  if (box !== null) {
    return { indent, box: /[xX✓✔✅]/u.test(box[1] ?? '') ? 'ticked' : 'open', text: (box[2] ?? '').trim() };
  }
  const drawn = /^([☐☑☒])\uFE0F?[ \t]*(.*)$/u.exec(rest);
  if (drawn !== null) return { indent, box: drawn[1] === '☐' ? 'open' : 'ticked', text: drawn[2] ?? '' };
  return { indent, box: 'none', text: rest.trim() };
}

/** Whether a line is a thematic break. */
export function isRule(raw: string): boolean {
  return /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(raw);
}

/** The width of some white space, a tab being four. */
export function columns(space: string): number {
  let count = 0;
  for (const character of space) count += character === '\t' ? 4 : 1;
  return count;
}
