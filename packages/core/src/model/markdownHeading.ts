/** The heading that a line of Markdown is by its `#`, with its words as written; null for any other line. */
export function markdownHeading(line: string): { readonly level: number; readonly text: string } | null {
  const match = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/.exec(line);
  return match === null ? null : { level: (match[1] ?? '').length, text: match[2] ?? '' };
}
