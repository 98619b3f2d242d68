import type { DatabaseSync } from 'node:sqlite';
import type { StandardsAnswer, StandardsQuery, StandardsResult } from '@phasegate/core/ports';
import { type Candidate, type FilterSql, filterSql, findCandidates } from './candidates.ts';
import { CONFIDENT, coverageOf } from './coverageOf.ts';
import { fuse } from './embeddings/fuse.ts';
import { nearestCandidates } from './embeddings/vectorTable.ts';
import { hintFor } from './hintFor.ts';
import type { Question } from './questionOf.ts';
import { JOINING, rankFiles } from './rankFiles.ts';

/** One search in an index that is up to date. */
export interface SearchRequest {
  readonly question: Question;
  readonly query: StandardsQuery;
  readonly limit: number;
  /** The question's vector and the model it comes from, where vectors are in use. */
  readonly vector: { readonly model: string; readonly values: Float32Array } | null;
}

/** Finds the passages that answer best. */
export function searchIndex(
  database: DatabaseSync,
  request: SearchRequest,
): Omit<StandardsAnswer, 'queryTimeMs'> {
  const { question, query, limit, vector } = request;
  const filter = filterSql(query);
  const candidates = candidatesFor(database, request, filter);
  // A caller who asks for a workflow's phase wants all of it, not the best two pieces of each document.
  const whole = query.workflow !== undefined;
  const ranked = rankFiles(
    candidates,
    whole ? { ...JOINING, chunksPerFile: Number.POSITIVE_INFINITY } : JOINING,
  );
  const chosen = ranked.slice(0, limit);
  if (whole) chosen.push(...restOf(database, filter, chosen).slice(0, limit - chosen.length));
  const [best] = ranked;
  const coverage = best === undefined ? 0 : coverageOf(database, question, best.id);
  const results = chosen.map((candidate) => {
    const share = best === undefined || best.score <= 0 ? 0 : candidate.score / best.score;
    return resultOf(database, candidate, Math.min(1, Math.max(0, coverage * share)));
  });
  const isUnsure = coverage < CONFIDENT;
  const hasTerms = (query.terms ?? []).length > 0;
  return {
    results,
    totalTokens: results.reduce((sum, { tokens }) => sum + tokens, 0),
    retrievalMethod: vector === null ? 'bm25' : 'bm25+vectors',
    lowConfidence: isUnsure,
    ...(isUnsure ? { hint: hintFor(database, { query: query.query, hasTerms, filter }, ranked) } : {}),
  };
}

function candidatesFor(
  database: DatabaseSync,
  { question, vector }: SearchRequest,
  filter: FilterSql,
): readonly Candidate[] {
  const byWords = findCandidates(database, question.match, filter);
  if (vector === null) return byWords;
  return fuse(byWords, nearestCandidates(database, { model: vector.model, vector: vector.values, filter }));
}

/** The chunks that pass the filter and have no word of the question, as they stand in their documents. */
function restOf(
  database: DatabaseSync,
  filter: FilterSql,
  chosen: readonly Candidate[],
): readonly Candidate[] {
  const taken = new Set(chosen.map(({ id }) => id));
  const rows = database
    .prepare(
      `SELECT chunk.id, chunk.path, chunk.bodyhash, 0.0 AS score FROM chunk JOIN file USING (path)
       WHERE ${filter.sql} ORDER BY chunk.path, chunk.line, chunk.id`,
    )
    .all(...filter.values) as unknown as readonly Candidate[];
  return rows.filter(({ id }) => !taken.has(id));
}

function resultOf(database: DatabaseSync, { id }: Candidate, relevance: number): StandardsResult {
  const row = database
    .prepare(
      `SELECT chunk.path, chunk.line, chunk.section, chunk.title, chunk.body, file.tags, file.phase
       FROM chunk JOIN file USING (path) WHERE chunk.id = ?`,
    )
    .get(id) as unknown as Row;
  return {
    content: row.body,
    file: row.path,
    line: row.line,
    title: row.title,
    section: row.section === '' ? row.title : row.section,
    relevanceScore: Math.round(relevance * 1000) / 1000,
    tokens: Math.ceil(row.body.length / 4),
    tags: JSON.parse(row.tags) as readonly string[],
    phase: row.phase,
  };
}

interface Row {
  readonly path: string;
  readonly line: number;
  readonly section: string;
  readonly title: string;
  readonly body: string;
  readonly tags: string;
  readonly phase: number | null;
}
