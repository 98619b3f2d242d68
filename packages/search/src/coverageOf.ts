import type { DatabaseSync } from 'node:sqlite';
import { type Question, quoted } from './questionOf.ts';

/** Below this share of the question, the best passage is more likely wrong than right. */
export const CONFIDENT = 0.5;

/**
 * How much of a question a chunk has in it, from 0 to 1: each word counts as much as it is rare, and one that stands
 * nowhere counts most. Terms are guesses at what the answer says, so query and terms are judged apart and the better
 * counts.
 */
export function coverageOf(database: DatabaseSync, { words }: Question, chunk: number): number {
  const total = Number(database.prepare('SELECT count(*) AS total FROM chunk').get()?.total);
  const frequency = database.prepare('SELECT doc FROM vocabulary WHERE term = ?');
  const holds = database.prepare('SELECT 1 FROM fts WHERE rowid = ? AND fts MATCH ?');
  const weighed = words.map(({ word, stem, inQuery, inTerms }) => {
    const found = Number(frequency.get(stem)?.doc ?? 0);
    const weight = Math.log(1 + (total - found + 0.5) / (found + 0.5));
    return { inQuery, inTerms, weight, held: holds.get(chunk, quoted(word)) !== undefined };
  });
  return Math.max(
    shareOf(weighed.filter(({ inQuery }) => inQuery)),
    shareOf(weighed.filter(({ inTerms }) => inTerms)),
  );
}

function shareOf(words: readonly { readonly weight: number; readonly held: boolean }[]): number {
  const all = words.reduce((sum, { weight }) => sum + weight, 0);
  return all === 0 ? 0 : words.reduce((sum, { weight, held }) => sum + (held ? weight : 0), 0) / all;
}
