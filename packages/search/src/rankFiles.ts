import type { Candidate } from './candidates.ts';

/** How scores of one file are joined. */
export interface Joining {
  /** What the file's further chunks add, each a smaller part than the one before. */
  readonly further: number;
  /** What a second chunk of the same file is worth against another file. */
  readonly second: number;
  readonly chunksPerFile: number;
}

/**
 * More from the further chunks lets long files win by length; nothing from them loses questions whose answer is spread
 * over a file. Between 0.1 and 0.3 both kinds do well.
 */
export const JOINING: Joining = { further: 0.2, second: 0.75, chunksPerFile: 2 };

/** Puts chunks in order: a file is as good as its best chunk and a little of the others. */
export function rankFiles(candidates: readonly Candidate[], joining: Joining): readonly Candidate[] {
  const ranked: Candidate[] = [];
  for (const chunks of Map.groupBy(candidates, ({ path }) => path).values()) {
    const [best, ...others] = chunks.toSorted(byScore);
    if (best === undefined) continue;
    const more = others.reduce((sum, { score }, index) => sum + score * joining.further ** (index + 1), 0);
    ranked.push({ ...best, score: best.score + more });
    for (const other of others.slice(0, joining.chunksPerFile - 1)) {
      ranked.push({ ...other, score: other.score * joining.second });
    }
  }
  return ranked.sort(byScore);
}

function byScore(one: Candidate, other: Candidate): number {
  if (one.score !== other.score) return other.score - one.score;
  return one.path === other.path ? one.id - other.id : one.path < other.path ? -1 : 1;
}
