import { quoted } from './wording.ts';

/** The known word that begins like one that was not finished, else the nearest to a mistyped one; null when none is near. */
export function suggest(word: string, known: Iterable<string>): string | null {
  if (word.length > LONGEST) return null;
  const words: string[] = [];
  for (const candidate of known) {
    if (words.length >= MOST_WORDS) break;
    if (candidate.length <= LONGEST) words.push(candidate);
  }
  return onlyOneThatBegins(word, words) ?? nearest(word, words);
}

/** No name an author mistypes is longer, and comparing two words takes the product of their lengths. */
const LONGEST = 100;
/** As many as a workflow has phases. A hint is only a help, and is asked for once for each of many mistakes. */
const MOST_WORDS = 1000;
/** How many pairs of letters are compared for one hint. */
const MOST_STEPS = 30_000;

function onlyOneThatBegins(word: string, known: readonly string[]): string | null {
  if (word.replace(/^-+/, '').length < 3) return null;
  const beginning = word.toLowerCase();
  const [only, ...others] = known.filter((candidate) => candidate.toLowerCase().startsWith(beginning));
  return others.length === 0 ? (only ?? null) : null;
}

function nearest(word: string, known: readonly string[]): string | null {
  // Of a word of one or two letters a single change leaves nothing of what was meant.
  const limit = word.length < 3 ? 0 : Math.max(1, Math.floor(word.length / 3));
  let best: string | null = null;
  let bestDistance = limit + 1;
  const left = { steps: MOST_STEPS };
  const lower = word.toLowerCase();
  for (const candidate of known) {
    if (left.steps <= 0) break;
    const distance = editDistance(lower, candidate.toLowerCase(), { limit: bestDistance, left });
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** ` (did you mean \`x\`?)`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = suggest(word, known);
  return meant === null ? '' : ` (did you mean \`${meant}\`?)`;
}

/** What is said of a key that nothing is known by; one that is long is cut. */
export function unknownKey(key: string, known: Iterable<string>): string {
  return `unknown key ${quoted(key)}${didYouMean(key, known)}`;
}

/** Insertions, deletions, changes and swaps of neighbours, each counted once. */
function editDistance(
  a: string,
  b: string,
  { limit, left }: { readonly limit: number; readonly left: { steps: number } },
): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] as number) + 1 : change;
      row.push(Math.min(change, swap, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    left.steps -= b.length;
    // A row is never better than the better of the two before it.
    if (Math.min(...row) >= limit && Math.min(...previous) >= limit) return limit;
    before = previous;
    previous = row;
  }
  return previous[b.length] as number;
}
