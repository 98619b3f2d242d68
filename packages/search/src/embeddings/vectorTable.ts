import type { DatabaseSync } from 'node:sqlite';
import type { Candidate, FilterSql } from '../candidates.ts';
import { inTransaction } from '../indexDatabase.ts';
import type { Embedder } from './embedder.ts';

/** Whether every chunk has a vector of this model; before that, comparing would favour the ones that have. */
export function hasAllVectors(database: DatabaseSync, model: string): boolean {
  return missing(database, model, 1).length === 0;
}

/** Has every chunk without a vector embedded. What no chunk needs any more is dropped. */
export async function embedMissing(
  database: DatabaseSync,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const rows = missing(database, embedder.id, BATCH);
    if (rows.length === 0) break;
    const vectors = await embedder.embed(
      rows.map(({ text }) => text),
      'document',
      signal,
    );
    signal.throwIfAborted();
    const put = database.prepare('INSERT OR REPLACE INTO vec (bodyhash, model, v) VALUES (?, ?, ?)');
    inTransaction(database, () => {
      rows.forEach(({ bodyhash }, index) => {
        const { buffer } = quantized(vectors[index] as Float32Array);
        put.run(bodyhash, embedder.id, new Uint8Array(buffer));
      });
    });
  }
  database.exec('DELETE FROM vec WHERE bodyhash NOT IN (SELECT bodyhash FROM chunk)');
}

/** The chunks whose vectors point most nearly the way of the question's; the score is the cosine. */
export function nearestCandidates(
  database: DatabaseSync,
  request: { readonly model: string; readonly vector: Float32Array; readonly filter: FilterSql },
): readonly Candidate[] {
  const { model, vector, filter } = request;
  const rows = database
    .prepare(
      `SELECT chunk.id, chunk.path, chunk.bodyhash, vec.v FROM chunk JOIN file USING (path)
       JOIN vec ON vec.model = ? AND vec.bodyhash = chunk.bodyhash WHERE ${filter.sql}`,
    )
    .all(model, ...filter.values) as unknown as readonly (Candidate & { readonly v: Uint8Array })[];
  const question = quantized(vector);
  return rows.map(({ id, path, bodyhash, v }) => ({
    id,
    path,
    bodyhash,
    score: cosine(question, new Int8Array(v.buffer, v.byteOffset, v.byteLength)),
  }));
}

const BATCH = 64;

function missing(
  database: DatabaseSync,
  model: string,
  limit: number,
): readonly { readonly bodyhash: string; readonly text: string }[] {
  return database
    .prepare(
      `SELECT bodyhash, title || char(10) || section || char(10) || body AS text FROM chunk
       WHERE NOT EXISTS (SELECT 1 FROM vec WHERE vec.model = ? AND vec.bodyhash = chunk.bodyhash)
       GROUP BY bodyhash LIMIT ?`,
    )
    .all(model, limit) as unknown as readonly { bodyhash: string; text: string }[];
}

/** A cosine does not care about length, so each vector may use the whole range of a byte. */
function quantized(vector: Float32Array): Int8Array<ArrayBuffer> {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  return Int8Array.from(vector, (value) => Math.round((value / largest) * 127));
}

function cosine(one: Int8Array, other: Int8Array): number {
  if (one.length !== other.length) return 0;
  let dot = 0;
  let left = 0;
  let right = 0;
  for (let index = 0; index < one.length; index++) {
    const a = one[index] as number;
    const b = other[index] as number;
    dot += a * b;
    left += a * a;
    right += b * b;
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right);
}
