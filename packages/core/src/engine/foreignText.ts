// Everything that some program takes for the end of a line.
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/**
 * Words that are not the engine's, under a line that is: each is quoted, so that none can pass for a line of the
 * engine's own. Whoever reads `From a human:` at the beginning of a line must be able to believe it.
 */
export function quoteLines(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** The same for words that begin on a line of the engine's: the first stays on it. */
export function quoteRest(text: string): string {
  return text.split(LINE_END).join('\n> ');
}

/** A name somebody else gave, on one line. */
export function onOneLine(text: string): string {
  return text.split(LINE_END).join('\\n');
}
