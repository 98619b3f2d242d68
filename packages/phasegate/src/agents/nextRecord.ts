import type { Feed, FeedRecord } from '../runtime/ports.ts';

/**
 * Waits for the next record after an id that is asked for; undefined when the signal came first. The process goes on
 * meanwhile: listening to a feed alone would keep none.
 */
export function nextRecord(
  feed: Feed,
  wanted: (record: FeedRecord) => boolean,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): Promise<FeedRecord | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const abort = () => done(undefined);
    // Before the timer: a feed that throws leaves nothing behind.
    const stop = feed.subscribe(
      (record) => {
        if (wanted(record)) done(record);
      },
      { after },
    );
    const awake = setInterval(() => undefined, LONG_MS);
    const done = (record: FeedRecord | undefined) => {
      clearInterval(awake);
      signal.removeEventListener('abort', abort);
      stop();
      resolve(record);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** A timer is there for being there. */
const LONG_MS = 3_600_000;
