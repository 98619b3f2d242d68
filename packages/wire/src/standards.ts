import type { StandardsAnswer, StandardsResult } from '@phasegate/core/ports';

/** One passage of the documentation. */
export type Passage = {
  readonly content: string;
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly section: string;
  readonly relevance_score: number;
  readonly tokens: number;
  readonly tags: readonly string[];
  readonly phase: number | null;
  readonly changed_since_accepted?: true;
};

/** What a search found. */
export type Passages = {
  readonly results: readonly Passage[];
  readonly total_tokens: number;
  readonly retrieval_method: string;
  readonly low_confidence: boolean;
  readonly hint?: string;
  readonly query_time_ms: number;
};

/** What a search found. */
export function encodePassages(answer: StandardsAnswer): Passages {
  const { hint } = answer;
  return {
    results: answer.results.map(encodePassage),
    total_tokens: answer.totalTokens,
    retrieval_method: answer.retrievalMethod,
    low_confidence: answer.lowConfidence,
    ...(hint === undefined ? {} : { hint }),
    query_time_ms: answer.queryTimeMs,
  };
}

function encodePassage({ changedSinceAccepted, ...passage }: StandardsResult): Passage {
  const { content, file, line, title, section, relevanceScore, tokens, tags, phase } = passage;
  const changed = changedSinceAccepted === undefined ? {} : { changed_since_accepted: changedSinceAccepted };
  const place = { content, file, line, title, section };
  return { ...place, relevance_score: relevanceScore, tokens, tags, phase, ...changed };
}
