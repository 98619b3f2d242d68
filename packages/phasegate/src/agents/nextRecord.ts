import type { Feed, FeedRecord } from '../runtime/ports.ts';

/** Waits for the next record after an id that is asked for; undefined when the signal came first. */
export function nextRecord(
  feed: Feed,
  wanted: (record: FeedRecord) => boolean,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): Promise<FeedRecord | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const abort = () => done(undefined);
    const stop = feed.subscribe(
      (record) => {
        if (wanted(record)) done(record);
      },
      { after },
    );
    const done = (record: FeedRecord | undefined) => {
      signal.removeEventListener('abort', abort);
      stop();
      resolve(record);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}
