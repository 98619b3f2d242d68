/** Where the front matter of a Markdown document is. */
export interface FrontMatterPlace {
  /** How many lines it takes, both marks included; 0 where there is none. */
  readonly end: number;
  /** False where it begins and never ends. */
  readonly closed: boolean;
}

/**
 * Finds the front matter of a document: from `---` on the first line to the next `---` or `...`, if its first line that
 * is neither blank nor a comment is a key of YAML. Anything else is a rule at the top of a page. What is meant for
 * readers of Phasegate and never closed is reported by the caller, so there only a plain word counts as a key.
 */
export function frontMatterOf(lines: readonly string[]): FrontMatterPlace {
  if (lines[0]?.trimEnd() !== '---') return NONE;
  const close = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  const inside = lines.slice(1, close === -1 ? undefined : close);
  const first = inside.find((line) => line.trim() !== '' && !line.startsWith('#'));
  if (close === -1) {
    const begun = /^[\p{L}_][\p{L}\p{N}_-]*[ \t]*:/u.test(lines[1] ?? '');
    return begun ? { end: lines.length, closed: false } : NONE;
  }
  const empty = inside.every((line) => line.trim() === '');
  return empty || (first !== undefined && KEY.test(first)) ? { end: close + 1, closed: true } : NONE;
}

const NONE: FrontMatterPlace = { end: 0, closed: true };
const KEY = /^(?:\{|["'\p{L}\p{N}_][^:]*:(?:\s|$))/u;
