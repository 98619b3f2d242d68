import { contentWordsOf } from './wordsOf.ts';

/** A question in the words it is searched by. */
export interface Question {
  /** What FTS5 is given. */
  readonly match: string;
  readonly words: readonly QuestionWord[];
}

/** One word with its stem; the same stem is asked for once. */
export interface QuestionWord {
  readonly word: string;
  readonly stem: string;
  /** Whether the query says it, and whether the terms do. */
  readonly inQuery: boolean;
  readonly inTerms: boolean;
}

/** The most words one search looks for. */
export const MOST_WORDS = 40;
const MOST_CHARACTERS = 8000;

/** Makes the search of a query and its terms; null when there is not one word in them. */
export function questionOf(
  query: string,
  terms: readonly string[],
  stems: (words: readonly string[]) => readonly string[],
): Question | null {
  const words = new Map<string, QuestionWord>();
  // The terms come first: they are few, and chosen to be found.
  for (const [word, stem] of stemmed(terms.join('\n'), stems)) {
    if (!words.has(stem)) words.set(stem, { word, stem, inQuery: false, inTerms: true });
  }
  for (const [word, stem] of stemmed(query, stems)) {
    words.set(stem, { ...(words.get(stem) ?? { word, stem, inTerms: false }), inQuery: true });
  }
  const asked = [...words.values()].slice(0, MOST_WORDS);
  if (asked.length === 0) return null;
  return { words: asked, match: asked.map(({ word }) => quoted(word)).join(' OR ') };
}

/** A word as a string of the query language: whatever it is, it is never an operator. */
export function quoted(word: string): string {
  return `"${word.replaceAll('"', '""')}"`;
}

function stemmed(
  text: string,
  stems: (words: readonly string[]) => readonly string[],
): readonly (readonly [word: string, stem: string])[] {
  const words = contentWordsOf(text.slice(0, MOST_CHARACTERS));
  return stems(words).map((stem, index) => [words[index] as string, stem]);
}
