import type { DatabaseSync } from 'node:sqlite';
import { PhasegateError } from '@phasegate/core';
import type {
  IndexReport,
  IndexWarning,
  Standards,
  StandardsQuery,
  StandardsResult,
} from '@phasegate/core/ports';
import { changedSince, type DocumentHashes, readAccepted, writeAccepted } from './acceptedDocuments.ts';
import type { Embedder } from './embeddings/embedder.ts';
import { embedderFrom } from './embeddings/embedderFrom.ts';
import { embedMissing, hasAllVectors } from './embeddings/vectorTable.ts';
import { DEFAULT_DOCS } from './findDocuments.ts';
import { searchIndex } from './searchIndex.ts';
import { StandardsIndex } from './standardsIndex.ts';
import type { Synced } from './syncIndex.ts';

/** What a search over documentation is made of. */
export interface StandardsOptions {
  /** Absolute path of the project's root. */
  readonly root: string;
  readonly stateDir: string;
  /** Globs of documents; the usual places when there are none. */
  readonly docs: readonly string[];
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Where an endpoint for embeddings may be named. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Opens the index of a project's documentation. */
export function openStandards({
  root,
  stateDir,
  docs,
  now = preciseNow,
  env = process.env,
}: StandardsOptions): Standards {
  const embedder = embedderFrom(env);
  const served = docs.length === 0 ? DEFAULT_DOCS : docs;
  const index = new StandardsIndex({ root, stateDir, docs: served, now });
  const closing = new AbortController();
  let embedding: Promise<unknown> = Promise.resolve();
  let listed: DocumentHashes | null = null;

  const embed = (): Promise<void> => {
    if (embedder === null) return Promise.resolve();
    const done = embedding.then(() =>
      index.use((database) => embedMissing(database, embedder, closing.signal)),
    );
    embedding = done.catch(() => undefined);
    return done;
  };

  const hashes = (): Promise<DocumentHashes> => index.use(hashesIn);
  // An agent may have written it since: anyone who reads it as a rule must know.
  const marking = async (results: readonly StandardsResult[]): Promise<readonly StandardsResult[]> => {
    const accepted = readAccepted(stateDir);
    if (accepted === null) return results;
    const changed = new Set(changedSince(accepted, await hashes()));
    return results.map((result) =>
      changed.has(result.file) ? { ...result, changedSinceAccepted: true } : result,
    );
  };

  return {
    async search(query) {
      const start = now();
      const limit = limitOf(query);
      await index.sync(false);
      const question = index.question(query);
      const vector = embedder === null ? null : await vectorFor(index, embedder, query, closing.signal);
      // Nobody waits for it: until it is done, search goes by words.
      if (vector === 'incomplete') embed().catch(() => undefined);
      const values =
        vector instanceof Float32Array && embedder !== null ? { model: embedder.id, values: vector } : null;
      const answer = await index.use((database) =>
        searchIndex(database, { question, query, limit, vector: values }),
      );
      const marked = await marking(answer.results);
      const failure = vector instanceof PhasegateError ? vector.message : null;
      const hint = [answer.hint, failure].filter((part) => part != null).join('. ');
      const elapsed = Math.max(0, Math.round((now() - start) * 100) / 100);
      return { ...answer, results: marked, queryTimeMs: elapsed, ...(hint === '' ? {} : { hint }) };
    },
    async sync({ rebuild }) {
      const synced = await index.sync(rebuild);
      await embed();
      return index.use((database) => reportOf(database, synced));
    },
    served: async () => served,
    acceptance: {
      async changed() {
        await index.sync(false);
        listed = await hashes();
        return changedSince(readAccepted(stateDir), listed);
      },
      // What was changed since it was listed is not what somebody accepted.
      async accept() {
        if (listed === null) await index.sync(false);
        writeAccepted(stateDir, listed ?? (await hashes()));
      },
    },
    async close() {
      closing.abort();
      await embedding;
      await index.close();
    },
  };
}

function hashesIn(database: DatabaseSync): DocumentHashes {
  const rows = database.prepare('SELECT path, sha256 FROM file ORDER BY path').all();
  return Object.fromEntries(rows.map(({ path, sha256 }) => [String(path), String(sha256)]));
}

const MOST_RESULTS = 300;

function limitOf({ limit = 5 }: StandardsQuery): number {
  if (Number.isInteger(limit) && limit > 0) return Math.min(limit, MOST_RESULTS);
  throw new PhasegateError('usage', `the number of results is a whole number from 1 on, not \`${limit}\``);
}

async function vectorFor(
  index: StandardsIndex,
  embedder: Embedder,
  { query, terms = [] }: StandardsQuery,
  signal: AbortSignal,
): Promise<Float32Array | 'incomplete' | PhasegateError> {
  if (!(await index.use((database) => hasAllVectors(database, embedder.id)))) return 'incomplete';
  try {
    const [vector] = await embedder.embed([[query, ...terms].join('\n')], 'query', signal);
    return vector ?? 'incomplete';
  } catch (error) {
    if (error instanceof PhasegateError) return error;
    throw error;
  }
}

function reportOf(database: DatabaseSync, synced: Synced): IndexReport {
  const rows = database.prepare('SELECT path, chunks, warnings FROM file ORDER BY path').all();
  const warnings = rows.flatMap(({ path, warnings: found }) =>
    (JSON.parse(String(found)) as readonly Omit<IndexWarning, 'file'>[]).map((warning) => ({
      file: String(path),
      ...warning,
    })),
  );
  const size = database
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()')
    .get();
  return {
    files: rows.length,
    chunks: rows.reduce((sum, { chunks }) => sum + Number(chunks), 0),
    ...synced,
    bytes: Number(size?.bytes),
    warnings,
  };
}

/** The wall clock with parts of a millisecond. */
function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
