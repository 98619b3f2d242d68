import type { Json } from '@phasegate/core';
import { expect, test } from 'vitest';
import type { AuditDraft, FeedRecord } from '../ports.ts';
import { knownContents } from './knownContents.ts';

const A = ['src/a.ts', '100644', 'aa'];
const B = ['src/b.ts', '100644', 'bb'];

test('a phase that ended well answers for what it changed, and for a file that is gone', async () => {
  const { ends, uncounted } = await known([started(), recorded([A, ['src/gone.ts']]), ended('completed')]);

  expect(ends).toMatchObject([
    { path: 'src/a.ts', now: { mode: '100644', sha256: 'aa' }, run: 'r', workflow: 'w', completed: true },
    { path: 'src/gone.ts', now: null },
  ]);
  expect(uncounted).toEqual([]);
});

test('what a human sent back counts once a later phase that may write it ends well with it', async () => {
  const back = [started(), recorded([A, B], { outcome: 'rejected' })];

  const before = await known(back);
  const after = await known([...back, recorded([['src/b.ts', '100644', 'b2']])]);
  const elsewhere = await known([...back, recorded([], { writes: ['docs/**'] })]);

  expect(before.ends).toEqual([]);
  expect(before.uncounted).toMatchObject([{ why: 'not_passed' }, { why: 'not_passed' }]);
  expect(after.ends).toMatchObject([
    { path: 'src/a.ts', now: { sha256: 'aa' } },
    { path: 'src/b.ts', now: { sha256: 'b2' } },
  ]);
  expect(elsewhere.ends).toEqual([]);
});

test('nothing counts of a workflow that no human accepted, nor of what would have been refused', async () => {
  const own = await known([started(false), recorded([A])]);
  const permissive = await known([started(), recorded([A], { would_refuse: 1 })]);
  const failed = await known([started(), recorded([A], { outcome: 'fail' })]);

  expect([own.ends, permissive.ends, failed.ends]).toEqual([[], [], []]);
  expect(own.uncounted).toMatchObject([{ why: 'not_accepted' }]);
});

test('what a human accepted counts as accepted, whatever the workflow', async () => {
  const data = { phase: 'P', accepted_by: 'maria', files: [A], part: 1, parts: 1, more: 0 };

  const { ends } = await known([started(false), { event: 'files_recorded', data }]);

  expect(ends).toMatchObject([{ path: 'src/a.ts', acceptedBy: 'maria' }]);
});

test('a list in several records counts when the last of them is there', async () => {
  const [one, two] = [recorded([A], { part: 1, parts: 2 }), recorded([B], { part: 2, parts: 2 })];

  expect((await known([started(), one])).ends).toEqual([]);
  expect((await known([started(), one, two])).ends).toHaveLength(2);
});

test('a phase of a version that recorded no contents is named as such', async () => {
  const files = { changes: [{ path: 'src/a.ts', how: 'changed' }] };
  const completed: Draft = { event: 'phase_completed', data: { phase: 'P', outcome: 'ok', files } };

  const older = await known([started(), completed]);
  const newer = await known([started(), completed, recorded([A])]);

  expect(older).toMatchObject({ ends: [], uncounted: [{ path: 'src/a.ts', phase: 'P', why: 'older' }] });
  expect(newer).toMatchObject({ ends: [{ path: 'src/a.ts' }], uncounted: [] });
});

test('records that make no sense prove nothing', async () => {
  const bad = [null, [], [7], ['src/a.ts', '100644'], 'src/a.ts', { path: 'src/a.ts' }];

  expect((await known([started(), recorded(bad as Json[])])).ends).toEqual([]);
  expect((await known([recorded([A])])).ends, 'of a run nobody started').toEqual([]);
});

interface Draft {
  readonly event: AuditDraft['event'];
  readonly data: Json;
  readonly run?: string | null;
}

function started(trusted = true): Draft {
  return { event: 'run_started', data: { id: 'r', workflow: 'w', trusted } };
}

function ended(status: string): Draft {
  return { event: 'run_ended', data: { run: 'r', status }, run: null };
}

function recorded(files: readonly Json[], more: Readonly<Record<string, Json>> = {}): Draft {
  const data = { phase: 'P', outcome: 'ok', would_refuse: 0, writes: ['src/**'], part: 1, parts: 1, ...more };
  return { event: 'files_recorded', data: { ...data, files: [...files] } };
}

function known(drafts: readonly Draft[]) {
  const records = drafts.map(
    ({ event, data, run = 'r' }, index): FeedRecord => ({
      id: index + 1,
      seq: index + 1,
      run,
      time: '2026-11-17T10:00:00.000Z',
      principal: 'engine:phasegate',
      event,
      data,
      prev: '',
      hash: '',
    }),
  );
  return knownContents({
    feedSince: async ({ after = 0, events }) =>
      records.filter(({ id, event }) => id > after && events.some((name) => name === event)),
  });
}
