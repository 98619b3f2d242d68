import type { ReachedProject } from '../../../runtime/ports.ts';
import type { WatchedRun } from './watchedRuns.ts';

/** What is looked at, and by whom it is seen. */
export interface Following {
  readonly feed: Pick<ReachedProject['feed'], 'subscribe'>;
  look(): Promise<readonly WatchedRun[]>;
  /** Is given every look; resolves to false when there is nothing more to see. */
  show(runs: readonly WatchedRun[]): Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Looks again whenever something happened in the project, by whichever process, until the signal. What happens while it
 * looks is one more look. Leases are renewed without a record: for them it also looks once in a while.
 */
export async function followRuns({ feed, look, show, signal }: Following): Promise<void> {
  let woken = Promise.withResolvers<void>();
  const wake = () => woken.resolve();
  const stop = feed.subscribe(wake, { signal });
  signal.addEventListener('abort', wake, { once: true });
  try {
    while (!signal.aborted) {
      woken = Promise.withResolvers<void>();
      if (!(await show(await look()))) return;
      const timer = setTimeout(wake, LOOK_AGAIN_MS);
      await woken.promise;
      clearTimeout(timer);
    }
  } finally {
    signal.removeEventListener('abort', wake);
    stop();
  }
}

const LOOK_AGAIN_MS = 10_000;
