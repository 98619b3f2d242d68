import { linesOf } from '../model/oneLine.ts';

/**
 * Words that are not the engine's, under a line that is: each is quoted, so that none can pass for a line of the
 * engine's own. Anyone who reads `From a human:` at the beginning of a line must be able to believe it.
 */
export function quoteLines(text: string): string {
  return linesOf(text)
    .map((line) => `> ${line}`)
    .join('\n');
}

/** The same for words that begin on a line of the engine's: the first stays on it. */
export function quoteRest(text: string): string {
  return linesOf(text).join('\n> ');
}
