import type { FeedRecord, FeedStore } from '../ports.ts';
import { type CatchingUp, createCatchingUp, type Later } from './catchingUp.ts';

/** The newest records of the feed in memory, read once for everyone who is up to date. */
export interface FeedTail {
  /** Some records after a cursor, oldest first; none only when there is none, or when they are not wanted any more. */
  after(cursor: number, isWanted: () => boolean): Promise<readonly FeedRecord[]>;
  /** Something was committed. */
  stale(): void;
  /** Forgets everything. */
  clear(): void;
}

/** Makes the tail of a store's feed. */
export function createFeedTail(store: FeedStore, later?: Later): FeedTail {
  let catchingUp: CatchingUp | undefined;
  let window: Promise<Window> | undefined;
  // What those who are behind were read, newest first, while one of them waits for a page.
  let pages: readonly Page[] = [];
  let behind = 0;
  // Counts commits: what was read before one of them is not known to be all.
  let commits = 0;

  /** Begins at the end of the feed: anyone who is behind reads page by page. */
  function opened(): Promise<Window> {
    if (window !== undefined) return window;
    const upTo = commits;
    const mine = store.feedEnd().then((base) => ({ base, records: [], upTo, reading: undefined }));
    window = mine;
    mine.catch(() => {
      if (window === mine) window = undefined;
    });
    return mine;
  }

  async function read(tail: Window): Promise<void> {
    const seen = commits;
    const records = await store.feed(tail.records.at(-1)?.id ?? tail.base, BATCH, WITHOUT_VALUES);
    tail.records.push(...records);
    // After a full batch there may be more.
    if (records.length < BATCH) tail.upTo = seen;
    // Who reads on and on lets others be served in between.
    else await new Promise<void>((resolve) => void setImmediate(resolve));
    const cut = tail.records.length - KEPT;
    if (cut <= 0) return;
    tail.base = (tail.records[cut - 1] as FeedRecord).id;
    tail.records = tail.records.slice(cut);
  }

  /**
   * A page of somebody who is behind. Most who are want the same records, such as all that listened before a restart:
   * what was just read for one is read for the next, so that to catch up costs no more than to have listened.
   */
  async function pageAfter(cursor: number, isWanted: () => boolean): Promise<readonly FeedRecord[]> {
    catchingUp ??= createCatchingUp(later);
    behind += 1;
    try {
      return await catchingUp(async () => {
        if (!isWanted()) return [];
        const known = pages.find(({ after, upTo }) => after <= cursor && cursor < upTo);
        if (known !== undefined) return known.records.filter(({ id }) => id > cursor);
        const records = await store.feed(cursor, BATCH, WITHOUT_VALUES);
        const last = records.at(-1);
        if (last !== undefined)
          pages = [{ after: cursor, upTo: last.id, records }, ...pages].slice(0, PAGES_KEPT);
        return records;
      });
    } finally {
      behind -= 1;
      if (behind === 0) pages = [];
    }
  }

  return {
    stale: () => {
      commits += 1;
    },
    clear: () => {
      window = undefined;
    },
    async after(cursor, isWanted) {
      const tail = await opened();
      for (;;) {
        if (cursor < tail.base) return pageAfter(cursor, isWanted);
        const first = tail.records.findLastIndex((record) => record.id <= cursor) + 1;
        if (first < tail.records.length) return tail.records.slice(first);
        if (tail.upTo === commits && tail.reading === undefined) return [];
        tail.reading ??= read(tail).finally(() => {
          tail.reading = undefined;
        });
        await tail.reading;
      }
    },
  };
}

/** What is kept, for as many listeners as there are, must not grow with what agents hand in. */
const WITHOUT_VALUES = { values: 'left_out' } as const;
const BATCH = 500;
/** How many of the newest records are kept. */
const KEPT = 2_000;
/** Pages of 500, for those who are at several places. */
const PAGES_KEPT = 4;

/** All records after one id and up to another. */
interface Page {
  readonly after: number;
  readonly upTo: number;
  readonly records: readonly FeedRecord[];
}

interface Window {
  /** All records after this id are in `records`, as far as they were read. */
  base: number;
  records: FeedRecord[];
  /** The count of commits everything was read up to. */
  upTo: number;
  reading: Promise<void> | undefined;
}
