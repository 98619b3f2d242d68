import { isJsonObject, type Json, PhasegateError } from '@phasegate/core';
import type { Embedder } from './embedder.ts';

/** Where vectors come from: an endpoint that speaks OpenAI's `/v1/embeddings`. */
export interface Endpoint {
  readonly url: URL;
  readonly model: string;
  readonly key: string | undefined;
}

/** An embedder over HTTP. It throws `store_unavailable` when the endpoint does not answer as it should. */
export function createEndpointEmbedder({ url, model, key }: Endpoint): Embedder {
  return {
    id: `${model}@${url.origin}${url.pathname}`,
    async embed(texts, kind, signal) {
      const limit = AbortSignal.timeout(kind === 'query' ? QUERY_TIMEOUT_MS : DOCUMENT_TIMEOUT_MS);
      let answer: Json;
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          },
          body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
          // A redirect would carry texts and key to someone nobody named.
          redirect: 'error',
          signal: AbortSignal.any([signal, limit]),
        });
        if (!response.ok) throw new Error(`it answered ${response.status}`);
        answer = (await response.json()) as Json;
      } catch (error) {
        signal.throwIfAborted();
        throw unanswered(url, limit.aborted ? 'it did not answer in time' : reasonOf(error));
      }
      const vectors = vectorsIn(answer, texts.length);
      if (vectors === null) throw unanswered(url, 'its answer holds no vector for each text');
      return vectors;
    },
  };
}

const QUERY_TIMEOUT_MS = 5000;
const DOCUMENT_TIMEOUT_MS = 60_000;

/** The cause is not kept: what `fetch` throws may repeat the request. */
function unanswered(url: URL, reason: string): PhasegateError {
  return new PhasegateError(
    'store_unavailable',
    `the embeddings endpoint \`${url.origin}\` failed: ${reason}`,
    {
      hint: 'search goes on by words alone',
    },
  );
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : String(cause);
}

function vectorsIn(answer: Json, count: number): readonly Float32Array[] | null {
  const data = isJsonObject(answer) ? answer.data : undefined;
  if (!Array.isArray(data) || data.length !== count) return null;
  const vectors = new Map<number, Float32Array>();
  for (const [place, entry] of data.entries()) {
    const values = isJsonObject(entry) ? entry.embedding : undefined;
    const index = isJsonObject(entry) && typeof entry.index === 'number' ? entry.index : place;
    if (!Array.isArray(values) || values.length === 0 || !values.every(Number.isFinite)) return null;
    vectors.set(index, Float32Array.from(values as number[]));
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index));
  return ordered.every((vector) => vector?.length === ordered[0]?.length)
    ? (ordered as Float32Array[])
    : null;
}
