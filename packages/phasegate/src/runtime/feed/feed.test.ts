import { describe, expect, test } from 'vitest';
import { openMemoryProject } from '../fixtures/openMemoryProject.ts';
import type { FeedRecord, OpenProject } from '../ports.ts';

const draft = { id: 'tested', phases: [{ id: 'PLAN' }, { id: 'BUILD' }] };
const stores = [
  ['memory', {}],
  ['SQLite', { sqlite: true }],
] as const;

/** Collects until it has so many. */
function collecting(count: number) {
  const records: FeedRecord[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const listener = (record: FeedRecord) => {
    records.push(record);
    if (records.length >= count) resolve();
  };
  return { records, done, listener };
}

async function note(project: OpenProject, count: number): Promise<void> {
  const eve = { kind: 'human', name: 'eve' } as const;
  await Promise.all(
    Array.from({ length: count }, (_, number) => project.server.note('signed_in', eve, { number })),
  );
}

const numbers = (records: readonly FeedRecord[]) =>
  records.map(({ data }) => (data as { readonly number: number }).number);

describe.each(stores)('the feed of a %s store', (_, options) => {
  test('gives what happens from now on, in order [S2.63 S2.64]', async () => {
    const { project } = openMemoryProject(draft, options);
    await note(project, 3);
    const { records, done, listener } = collecting(20);
    const stop = project.feed.subscribe(listener);

    await note(project, 20);
    await done;

    expect(numbers(records)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    stop();
    await project.close();
  });

  test('gives all of a commit that holds more than is read at once', async () => {
    const { project, store } = openMemoryProject(draft, options);
    const first = collecting(1);
    const { records, done, listener } = collecting(1_301);
    project.feed.subscribe((record) => {
      first.listener(record);
      listener(record);
    });
    await note(project, 1);
    await first.done;

    const time = '2026-01-01T00:00:00.000Z';
    const many = Array.from({ length: 1_300 }, (_, number) => ({ number }));
    await store.note(
      null,
      many.map((data) => ({ time, principal: 'human:eve', event: 'signed_in' as const, data })),
    );
    await done;

    expect(numbers(records)).toEqual([0, ...many.map(({ number }) => number)]);
    await project.close();
  });

  test('goes on after a record somebody has seen, without a gap or a repetition [S2.63]', async () => {
    const { project } = openMemoryProject(draft, options);
    await note(project, 1_300);
    const seen = (await project.feed.after(0, 400)).at(-1)?.id ?? 0;
    const { records, done, listener } = collecting(1_200);

    project.feed.subscribe(listener, { after: seen });
    await note(project, 300);
    await done;

    const ids = records.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
    expect(records.slice(0, 1_200)).toEqual(await project.feed.after(seen, 1_200));
    await project.close();
  });

  test('serves listeners of every speed at once, each with everything', async () => {
    const { project } = openMemoryProject(draft, options);
    await note(project, 10);
    const slow = collecting(60);
    const fast = Array.from({ length: 20 }, () => collecting(60));
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

    project.feed.subscribe(
      async (record) => {
        await turn();
        slow.listener(record);
      },
      { after: 0 },
    );
    for (const one of fast) project.feed.subscribe(one.listener, { after: 0 });
    await note(project, 50);
    await Promise.all([slow.done, ...fast.map(({ done }) => done)]);

    const whole = await project.feed.after(0, 60);
    for (const { records } of [slow, ...fast]) expect(records.slice(0, 60)).toEqual(whole);
    await project.close();
  });

  test('waits for a listener before it gives it the next record', async () => {
    const { project } = openMemoryProject(draft, options);
    let inside = 0;
    let most = 0;
    const { done, listener } = collecting(20);
    project.feed.subscribe(async (record) => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise<void>((resolve) => setImmediate(resolve));
      inside -= 1;
      listener(record);
    });
    await note(project, 20);
    await done;
    expect(most).toBe(1);
    await project.close();
  });

  test('stops a listener that throws, and no other', async () => {
    const { project } = openMemoryProject(draft, options);
    let thrown = 0;
    const rejecting = collecting(1);
    project.feed.subscribe(() => {
      thrown += 1;
      throw new Error('a fault of the listener');
    });
    project.feed.subscribe(async (record) => {
      rejecting.listener(record);
      throw new Error('a fault of the listener');
    });
    const { records, done, listener } = collecting(5);
    project.feed.subscribe(listener);

    await note(project, 5);
    await done;

    expect(records).toHaveLength(5);
    expect([thrown, rejecting.records.length]).toEqual([1, 1]);
    await project.close();
  });

  test('ends with its signal', async () => {
    const { project } = openMemoryProject(draft, options);
    const controller = new AbortController();
    const ended = collecting(2);
    const other = collecting(4);
    project.feed.subscribe(ended.listener, { signal: controller.signal });
    project.feed.subscribe(other.listener);
    project.feed.subscribe(ended.listener, { signal: AbortSignal.abort() });

    await note(project, 2);
    await ended.done;
    controller.abort();
    await note(project, 2);
    await other.done;

    expect(ended.records).toHaveLength(2);
    await project.close();
  });
});

test('what another process writes comes too [S2.63]', async () => {
  const here = openMemoryProject(draft, { sqlite: true });
  const there = openMemoryProject(draft, { sqlite: here.folder });
  const { records, done, listener } = collecting(5);
  here.project.feed.subscribe(listener);
  await here.project.feed.newest();

  await note(there.project, 5);
  await done;

  expect(numbers(records)).toEqual([0, 1, 2, 3, 4]);
  await Promise.all([here.project.close(), there.project.close()]);
});
