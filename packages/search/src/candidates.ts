import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { listText } from './syncIndex.ts';

/** A chunk with how well it fits; higher is better. */
export interface Candidate {
  readonly id: number;
  readonly path: string;
  readonly bodyhash: string;
  readonly score: number;
}

/** Which documents may be found. */
export interface Filter {
  readonly phase?: number;
  readonly tags?: readonly string[];
  readonly workflow?: string;
}

/** A filter as SQL: over the table `file`, and over the rows of the full-text table. Both take the same values. */
export interface FilterSql {
  readonly sql: string;
  readonly rows: string;
  readonly values: readonly SQLInputValue[];
}

/** The most chunks looked at before files are compared. */
export const MOST_CANDIDATES = 300;

/** The chunks that fit best by their words. */
export function findCandidates(
  database: DatabaseSync,
  match: string,
  filter: FilterSql,
): readonly Candidate[] {
  // Ranked and cut off before anything is joined, so that the join is over 300 rows and not over all that match.
  return database
    .prepare(
      `WITH best AS MATERIALIZED (
        SELECT rowid AS id, rank AS score FROM fts
        WHERE fts MATCH ? AND ${filter.rows}
        ORDER BY rank LIMIT ${MOST_CANDIDATES}
      )
      SELECT best.id, chunk.path, chunk.bodyhash, -best.score AS score FROM best JOIN chunk USING (id)`,
    )
    .all(match, ...filter.values) as unknown as readonly Candidate[];
}

/**
 * A phase excludes every document without it, and so do tags, of which one is enough. Content of a workflow's phase is
 * found only by who asks for that workflow: anything else would show an agent the phases ahead of it.
 */
export function filterSql({ phase, tags = [], workflow }: Filter): FilterSql {
  const parts: string[] = [];
  const values: SQLInputValue[] = [];
  if (workflow === undefined) parts.push('file.closed = 0');
  else {
    parts.push(`EXISTS (SELECT 1 FROM file AS twin WHERE twin.sha256 = file.sha256
      AND twin.phase IS file.phase AND instr(twin.workflows, ?) > 0)`);
    values.push(listText([workflow]));
  }
  if (phase !== undefined) {
    parts.push('file.phase = ?');
    values.push(phase);
  }
  if (tags.length > 0) {
    const marks = tags.map(() => '?').join(', ');
    parts.push(`file.path IN (SELECT path FROM file_tag WHERE tag IN (${marks}))`);
    values.push(...tags.map((tag) => tag.trim().toLowerCase()));
  }
  // The plus keeps SQLite from asking the full-text table once for every row: 2.5 s instead of 9 ms.
  const rows =
    values.length === 0
      ? '+rowid NOT IN (SELECT chunk.id FROM chunk JOIN file USING (path) WHERE file.closed = 1)'
      : `+rowid IN (SELECT chunk.id FROM chunk JOIN file USING (path) WHERE ${parts.join(' AND ')})`;
  return { sql: parts.join(' AND '), rows, values };
}
