import { type Candidate, MOST_CANDIDATES } from '../candidates.ts';

/** What words and vectors count. By rank alone the result was worse than by words; as a sum of scores it was better. */
const WORDS = 0.7;
const VECTORS = 0.3;

/** Joins what was found by words with what was found by vectors; each is brought to 0..1 first. */
export function fuse(byWords: readonly Candidate[], byVectors: readonly Candidate[]): readonly Candidate[] {
  const near = byVectors.toSorted((one, other) => other.score - one.score).slice(0, MOST_CANDIDATES);
  const best = Math.max(...byWords.map(({ score }) => score), Number.MIN_VALUE);
  const most = near[0]?.score ?? 0;
  const least = near.at(-1)?.score ?? 0;
  const fused = new Map(byWords.map((one) => [one.id, { ...one, score: (WORDS * one.score) / best }]));
  for (const one of near) {
    const score = VECTORS * (most === least ? 1 : (one.score - least) / (most - least));
    fused.set(one.id, { ...one, score: score + (fused.get(one.id)?.score ?? 0) });
  }
  return [...fused.values()];
}
