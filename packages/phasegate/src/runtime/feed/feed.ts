import type { Feed, FeedRecord, FeedStore } from '../ports.ts';
import type { Later } from './catchingUp.ts';
import { createFeedTail } from './feedTail.ts';

/** A feed that can be closed with the store it reads. */
export interface OpenFeed extends Feed {
  close(): void;
}

/**
 * The feed of a store. Listeners that are up to date share what was read once; those that are behind
 * read a page each in turns, until they have caught up. A slow listener holds up nobody but itself.
 */
export function createFeed(store: FeedStore, later?: Later): OpenFeed {
  const followers = new Set<Follower>();
  const tail = createFeedTail(store, later);
  let unlisten: (() => void) | undefined;

  const forget = (follower: Follower) => {
    if (!followers.delete(follower) || followers.size > 0) return;
    unlisten?.();
    unlisten = undefined;
    tail.clear();
  };

  async function follow(follower: Follower, after: number | undefined): Promise<void> {
    let cursor = after ?? (await store.feedEnd());
    while (!follower.stopped) {
      // Taken before reading: a commit that comes meanwhile is not slept through.
      const woken = follower.woken.promise;
      const records = await tail.after(cursor, () => !follower.stopped).catch(() => null);
      if (records === null || records.length === 0) {
        await (records === null ? Promise.race([woken, pause(RETRY_MS, follower)]) : woken);
        continue;
      }
      for (const record of records) {
        if (follower.stopped) return;
        const told = follower.listener(record);
        if (told instanceof Promise) await told;
        cursor = record.id;
      }
    }
  }

  return {
    after: (id, limit, reading) => store.feed(id, limit, reading),
    newest: () => store.feedEnd(),

    subscribe(listener, { after, signal } = {}) {
      const stop = () => {
        follower.stopped = true;
        clearTimeout(follower.timer);
        signal?.removeEventListener('abort', stop);
        wake(follower);
        forget(follower);
      };
      const woken = Promise.withResolvers<void>();
      const follower: Follower = { listener, stop, stopped: false, woken, timer: undefined };
      if (signal?.aborted === true) return stop;
      // First, as a store that cannot be listened to throws: nothing is left behind then.
      unlisten ??= store.onCommit(() => {
        tail.stale();
        for (const one of followers) wake(one);
      });
      signal?.addEventListener('abort', stop);
      followers.add(follower);
      // A listener that throws has had its say; a listener is also stopped when the feed's own start fails.
      follow(follower, after).then(stop, stop);
      return stop;
    },

    close() {
      for (const follower of [...followers]) follower.stop();
    },
  };
}

/** The store did not answer: nothing is lost, as the cursor has not moved. */
const RETRY_MS = 1_000;

interface Follower {
  readonly listener: (record: FeedRecord) => void | Promise<void>;
  readonly stop: () => void;
  stopped: boolean;
  woken: PromiseWithResolvers<void>;
  timer: NodeJS.Timeout | undefined;
}

function wake(follower: Follower): void {
  const { resolve } = follower.woken;
  follower.woken = Promise.withResolvers();
  resolve();
}

function pause(milliseconds: number, follower: Follower): Promise<void> {
  return new Promise((resolve) => {
    follower.timer = setTimeout(resolve, milliseconds);
    follower.timer.unref();
  });
}
