import { expect, test } from 'vitest';
import { openMemoryProject } from '../fixtures/openMemoryProject.ts';
import type { FeedRecord, FeedStore, Store } from '../ports.ts';
import { createFeed } from './feed.ts';

test('those who are behind have a page each in turns, and those who are not hear at once', async () => {
  const { store } = openMemoryProject({ id: 'w', phases: [{ id: 'A' }] });
  await note(store, 2600);
  const { feed, read, rest, rests } = counted(store);
  const hears: number[] = [];
  feed.subscribe(({ id }) => void hears.push(id));
  await turns();
  const behind = Array.from({ length: 8 }, () => [] as number[]);
  for (const heard of behind) feed.subscribe(({ id }) => void heard.push(id), { after: 0 });

  await turns();
  const first = read.length;
  for (let n = 1; n < 8; n += 1) {
    rest();
    await turns();
  }
  const afterOneRound = behind.map(({ length }) => length);
  await note(store, 1);
  await turns();
  const heardAtOnce = hears.length;
  while (behind.some(({ length }) => length < 2601)) {
    rest();
    await turns();
  }
  feed.close();

  expect(first).toBe(1);
  expect(afterOneRound).toEqual(behind.map(() => 500));
  expect(heardAtOnce).toBe(1);
  expect(rests.every((milliseconds) => milliseconds <= 250)).toBe(true);
  for (const heard of behind) expect(heard).toEqual(Array.from({ length: 2601 }, (_, n) => n + 1));
});

test('nothing is read for one that left, and one that is slow or cannot be read for keeps nobody', async () => {
  const { store } = openMemoryProject({ id: 'w', phases: [{ id: 'A' }] });
  await note(store, 700);
  const { feed, read, rest, failNext } = counted(store);
  const stops = Array.from({ length: 50 }, () => feed.subscribe(() => undefined, { after: 0 }));
  feed.subscribe(() => new Promise(() => undefined), { after: 0 });
  failNext();
  const heard: FeedRecord[] = [];
  feed.subscribe((record) => void heard.push(record), { after: 0 });
  for (const stop of stops) stop();
  for (let n = 0; n < 3; n += 1) {
    await turns();
    rest();
  }
  await turns();
  feed.close();

  // One that failed, of the slow one, and two of the other.
  expect(read.length).toBe(3);
  expect(heard).toHaveLength(700);
});

/** A feed that counts pages of those who are behind, and rests until it is told. */
function counted(store: Store) {
  const read: number[] = [];
  const rests: number[] = [];
  const waiting: (() => void)[] = [];
  let fails = false;
  const seen: FeedStore = {
    feedSince: store.feedSince,
    feedEnd: store.feedEnd,
    onCommit: store.onCommit,
    feed: async (after, limit) => {
      if (after < 2600) read.push(after);
      if (fails) {
        fails = false;
        throw new Error('the store is away');
      }
      return store.feed(after, limit);
    },
  };
  const feed = createFeed(seen, (milliseconds) => {
    rests.push(milliseconds);
    return new Promise((resolve) => waiting.push(resolve));
  });
  const rest = () => {
    for (const resume of waiting.splice(0)) resume();
  };
  const failNext = () => {
    fails = true;
  };
  return { feed, read, rests, rest, failNext };
}

async function note(store: Store, count: number): Promise<void> {
  const drafts = Array.from({ length: count }, (_, number) => ({
    time: '2026-03-01T12:00:00.000Z',
    principal: 'human:eve',
    event: 'signed_in' as const,
    data: { number },
  }));
  expect(await store.note(null, drafts)).toBe(true);
}

/** Enough for a page of 500 to be told record by record. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
