import { createStreamReader } from './eventStream.ts';
import type { Http } from './http.ts';
import { PhasegateClientError } from './PhasegateClientError.ts';
import { backoff, pause } from './retrying.ts';

/** Where to begin and when to end. */
export interface FollowOptions {
  /** Begin after the record with this id; 0 for the very first. From now on where left out. */
  readonly after?: number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
}

// The server says something at least every 15 seconds; a connection that is silent for longer is dead.
const SILENCE_MS = 45_000;
const LONGEST_RETRY_MS = 30_000;
/** How often in a row no connection may come about before the reader is told. */
const CONNECTION_TRIES = 6;

/**
 * Every record of the stream in order, each once. A cut connection is taken up again after the last record seen, so
 * that nothing is missed.
 */
export async function* followEvents<T extends { readonly id: number }>(
  http: Http,
  bearer: () => string | null,
  options: FollowOptions = {},
): AsyncGenerator<T, void, undefined> {
  const ended = new AbortController();
  const signal =
    options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
  const place: Place = { last: options.after ?? null, failures: 0, retryMs: 0 };
  try {
    while (!signal.aborted) {
      try {
        yield* readOnce<T>(await openStream(http, bearer(), { place, signal }), place);
        place.failures += 1;
      } catch (error) {
        if (signal.aborted) return;
        place.failures += 1;
        if (!worthAnother(error) || place.failures >= CONNECTION_TRIES) throw error;
      }
      await pause(Math.max(place.retryMs, backoff(place.failures)), signal).catch(() => undefined);
    }
  } finally {
    ended.abort();
  }
}

/** What outlives a single connection. */
interface Place {
  last: number | null;
  /** Connections in a row that brought nothing. */
  failures: number;
  retryMs: number;
}

async function openStream(
  http: Http,
  bearer: string | null,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<Response> {
  const headers = {
    accept: 'text/event-stream',
    ...(place.last === null ? {} : { 'last-event-id': String(place.last) }),
  };
  return http.open({ method: 'GET', path: '/events', safe: true, signal, headers }, bearer);
}

async function* readOnce<T extends { readonly id: number }>(
  response: Response,
  place: Place,
): AsyncGenerator<T, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  const stream = createStreamReader();
  try {
    for (;;) {
      const chunk = await readOrGiveUp(reader);
      if (chunk === null) return;
      place.failures = 0;
      for (const message of stream.push(decoder.decode(chunk, { stream: true }))) {
        const record = recordIn<T>(message.data);
        if (record === null || (place.last !== null && record.id <= place.last)) continue;
        place.last = record.id;
        yield record;
      }
      // An id on its own says where the stream is before anything has happened.
      if (/^\d+$/.test(stream.lastId)) place.last = Math.max(place.last ?? 0, Number(stream.lastId));
      place.retryMs = Math.min(stream.retryMs ?? place.retryMs, LONGEST_RETRY_MS);
    }
  } finally {
    // Not awaited: a connection that is already dead may never confirm.
    void reader.cancel().catch(() => undefined);
  }
}

/** The next bytes; null at the end, and when nothing came for too long. */
async function readOrGiveUp(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, SILENCE_MS, null);
  });
  try {
    const read = await Promise.race([reader.read(), silence]);
    return read?.value ?? null;
  } finally {
    clearTimeout(timer);
  }
}

/** Messages that are not records, such as one that only says where the stream is, are passed over. */
function recordIn<T extends { readonly id: number }>(data: string): T | null {
  try {
    const value = JSON.parse(data) as T | null;
    return typeof value?.id === 'number' ? value : null;
  } catch {
    return null;
  }
}

/** A cut connection and a busy server pass; a refused credential does not. */
function worthAnother(error: unknown): boolean {
  if (!(error instanceof PhasegateClientError)) return true;
  return error.status === null || error.status === 429 || error.status >= 500;
}
