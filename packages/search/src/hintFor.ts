import type { DatabaseSync } from 'node:sqlite';
import type { Candidate, FilterSql } from './candidates.ts';

/** What to say when the answer is probably not the right one, so that the next call is an informed one. */
export function hintFor(
  database: DatabaseSync,
  request: { readonly query: string; readonly hasTerms: boolean; readonly filter: FilterSql },
  ranked: readonly Candidate[],
): string {
  const { query, hasTerms, filter } = request;
  const files = database
    .prepare(`SELECT path, title, tags FROM file WHERE same_as IS NULL AND chunks > 0 AND ${filter.sql}`)
    .all(...filter.values) as unknown as readonly Listed[];
  if (files.length === 0)
    return filter.values.length === 0
      ? 'no document is indexed; `phasegate index` shows what is'
      : 'no document matches the filters, or none is indexed; `phasegate index` shows what is';
  const place = new Map(ranked.toReversed().map(({ path }, index) => [path, index + 1]));
  const asked = triplesOf(query);
  const nearness = ({ path, title }: Listed) => (place.get(path) ?? 0) + alike(asked, triplesOf(title));
  const nearest = files
    .map((file) => ({ file, near: nearness(file) }))
    .sort((one, other) => other.near - one.near || (one.file.path < other.file.path ? -1 : 1))
    .slice(0, NEAREST)
    .map(({ file }) => describe(file));
  const again = hasTerms ? 'search again with other `terms`' : 'search again with `terms`';
  return (
    `little of the question was found in one place; ${again}: 3 to 8 technical words or synonyms the right document ` +
    `is likely to contain. Nearest documents: ${nearest.join('; ')}`
  );
}

const NEAREST = 10;

interface Listed {
  readonly path: string;
  readonly title: string;
  readonly tags: string;
}

function describe({ title, tags }: Listed): string {
  const names = JSON.parse(tags) as readonly string[];
  return names.length === 0 ? title : `${title} (${names.join(', ')})`;
}

/** Every three letters in a row: what a misspelt word still shares with the right one. */
function triplesOf(text: string): ReadonlySet<string> {
  const padded = ` ${text.slice(0, 400).toLowerCase()} `;
  return new Set(Array.from({ length: Math.max(0, padded.length - 2) }, (_, at) => padded.slice(at, at + 3)));
}

/** Below 1, so that a file that was found always comes before one that merely sounds alike. */
function alike(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((triple) => other.has(triple)).length;
  return shared / (one.size + other.size + 1);
}
