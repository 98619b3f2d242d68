import { expect, test } from 'vitest';
import { openMemoryProject } from '../fixtures/openMemoryProject.ts';
import type { FeedRecord, FeedStore, Store } from '../ports.ts';
import { createCatchingUp } from './catchingUp.ts';
import { createFeed } from './feed.ts';

test('those who are behind have a page each in turns, and those who are not hear at once', async () => {
  const { store } = openMemoryProject({ id: 'w', phases: [{ id: 'A' }] });
  await note(store, 2600);
  const { feed, read, rest } = counted(store);
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
  // What is read for one is read for all.
  expect(read).toEqual([0, 500, 1000, 1500, 2000, 2500]);
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

test('those who begin within a page of each other read the same pages from then on', async () => {
  const { store } = openMemoryProject({ id: 'w', phases: [{ id: 'A' }] });
  await note(store, 2600);
  const { feed, read, rest } = counted(store);
  const starts = [0, 300, 0, 100];
  const behind = starts.map(() => [] as number[]);
  for (const [index, heard] of behind.entries())
    feed.subscribe(({ id }) => void heard.push(id), { after: starts[index] ?? 0 });
  while (behind.some((heard) => heard.at(-1) !== 2600)) {
    await turns();
    rest();
  }
  feed.close();

  for (const [index, heard] of behind.entries()) {
    const after = starts[index] ?? 0;
    expect(heard).toEqual(Array.from({ length: 2600 - after }, (_, n) => after + n + 1));
  }
  expect(read).toEqual([0, 500, 1000, 1500, 2000, 2500]);
});

test('a read that hangs holds the others for a while and not for good', async () => {
  const { store } = openMemoryProject({ id: 'w', phases: [{ id: 'A' }] });
  await note(store, 300);
  const { feed, hangNext, giveUp } = counted(store);
  const heard: [string, number][] = [];
  const hanging = hangNext();
  feed.subscribe(({ id }) => void heard.push(['first', id]), { after: 0 });
  feed.subscribe(({ id }) => void heard.push(['second', id]), { after: 200 });
  await turns();
  expect(heard).toEqual([]);

  giveUp();
  await turns();
  expect(heard).toHaveLength(100);
  expect(heard.at(-1)).toEqual(['second', 300]);
  hanging.resolve();
  await turns();
  feed.close();
  expect(heard).toHaveLength(400);
  expect(heard.at(-1)).toEqual(['first', 300]);
});

test('the rest after a page grows with what it kept busy, up to a quarter of a second', async () => {
  const rests: number[] = [];
  const inTurn = createCatchingUp(async (milliseconds, signal) => {
    if (signal === undefined) rests.push(milliseconds);
    else await new Promise((resolve) => signal.addEventListener('abort', resolve));
  });
  const busyFor = async (milliseconds: number) => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
    return ['record'];
  };

  await inTurn(() => busyFor(20));
  await inTurn(() => busyFor(100));
  await inTurn(async () => []);
  await turns();
  expect(rests).toHaveLength(2);
  expect(rests[0]).toBeGreaterThanOrEqual(60);
  expect(rests[1]).toBe(250);
});

/** A feed that counts pages of those who are behind, and rests until it is told. */
function counted(store: Store) {
  const read: number[] = [];
  const waiting: (() => void)[] = [];
  const limits: (() => void)[] = [];
  let fails = false;
  let hanging: PromiseWithResolvers<void> | undefined;
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
      const held = hanging;
      hanging = undefined;
      await held?.promise;
      return store.feed(after, limit);
    },
  };
  const feed = createFeed(
    seen,
    (_, signal) => new Promise((resolve) => (signal === undefined ? waiting : limits).push(resolve)),
  );
  const rest = () => {
    for (const resume of waiting.splice(0)) resume();
  };
  const failNext = () => {
    fails = true;
  };
  const hangNext = () => {
    hanging = Promise.withResolvers();
    return hanging;
  };
  const giveUp = () => {
    for (const resume of limits.splice(0)) resume();
  };
  return { feed, read, rest, failNext, hangNext, giveUp };
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
