import { expect, onTestFinished, test, vi } from 'vitest';
import { createFeed } from '../runtime/feed/feed.ts';
import { openMemoryProject } from '../runtime/fixtures/openMemoryProject.ts';
import { nextRecord } from './nextRecord.ts';

test('waiting for a record of a feed that cannot be listened to keeps no process', async () => {
  const { store } = openMemoryProject({ id: 'w', phases: [{ id: 'A' }] });
  let isAway = true;
  const feed = createFeed({
    ...store,
    onCommit: (heard) => {
      if (isAway) throw new Error('the store is away');
      return store.onCommit(heard);
    },
  });
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const leaving = new AbortController();
  const next = () => nextRecord(feed, () => true, { after: 0, signal: leaving.signal });

  await expect(next()).rejects.toThrow('the store is away');
  expect(vi.getTimerCount()).toBe(0);
  isAway = false;
  const waiting = next();
  expect(vi.getTimerCount()).toBe(1);
  leaving.abort();
  expect(await waiting).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});
