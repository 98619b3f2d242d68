import { join } from 'node:path';
import { create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Archiving, end, LATER, makeArchiving } from '../fixtures/archiving.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

/** Records of a run, two of which are more than a slice. */
const LARGE = 1_500;

let archiving: Archiving;

beforeEach(async () => {
  archiving = await makeArchiving();
  const { using } = archiving;
  await using(async (store) => {
    for (const id of ['r1', 'r2', 'r3'])
      await store.note(
        id,
        Array.from({ length: LARGE }, () => sampleDraft('tool_judged')),
      );
    await end(store, 'r3');
  });
});

afterEach(() => archiving.state.remove());

const notes = async () => {
  const records = await archiving.using((store) => store.history(null, { after: 0, limit: 100 }));
  return records.filter(({ event }) => event === 'runs_archived').map(({ data }) => data);
};

test('runs of several slices are noted slice by slice, and verify with their one file', async () => {
  const { state, file, archive, verify, anchorNow } = archiving;
  const anchor = await anchorNow();
  const { sha256 } = (await archive()) ?? {};
  expect(await notes()).toEqual(
    ['r1', 'r2', 'r3'].map(() => ({ file, sha256, runs: 1, records: LARGE + 2, before: LATER })),
  );
  expect(await verify({ archives: [file], anchors: [anchor] })).toMatchObject({
    ok: true,
    runs: 0,
    archived: [{ file, runs: 3, verified: true }],
  });
  expect(state.read('SELECT id FROM texts')).toEqual([]);
});

test('others write between two slices', async () => {
  const { state, file, using, verify } = archiving;
  const other = state.open();
  const noted: Promise<boolean>[] = [];
  await using((store) => {
    const stop = store.onCommit(() => {
      if (state.read('SELECT 1 FROM archived').length > 0)
        noted.push(other.note(null, [sampleDraft('start_refused')]));
    });
    return store.archive?.({ before: LATER, file, by: 'human:maria' }).finally(stop);
  });
  await Promise.all(noted);
  const events = (await other.history(null, { after: 0, limit: 100 })).map(({ event }) => event);
  await other.close();
  const [first, last] = [events.indexOf('runs_archived'), events.lastIndexOf('runs_archived')];
  expect(events.slice(first, last)).toContain('start_refused');
  expect(await verify({ archives: [file] })).toMatchObject({ ok: true, findings: [] });
});

test('runs that are cut off between two slices stay, verify, and are archived to another file', async () => {
  const { state, file, using, archive, verify, anchorNow } = archiving;
  const early = await anchorNow();
  state.tamper(
    `CREATE TRIGGER cut BEFORE INSERT ON archived WHEN NEW.run = 'r2' BEGIN SELECT RAISE(ABORT, 'cut off'); END`,
  );
  await expect(archive()).rejects.toMatchObject({
    hint: expect.stringMatching(/^1 of 3 runs are archived in `.*`: keep it; .*archiving again/),
  });
  state.tamper('DROP TRIGGER cut');

  for (const how of [{}, { archives: [file] }, { archives: [file], anchors: [early] }, { since: early }])
    expect(await verify(how)).toMatchObject({ ok: true, runs: 2, findings: [], archived: [{ runs: 1 }] });
  // A run that goes on has the records of the archive still, and more.
  await using((store) => store.note('r3', [sampleDraft('tool_judged')]));
  expect(await verify({ archives: [file] })).toMatchObject({ ok: true, findings: [] });

  const rest = join(state.folder, 'rest.jsonl');
  expect(await archive(rest)).toMatchObject({ runs: 2 });
  expect((await notes()).length).toBe(3);
  for (const archives of [[file], [rest], [file, rest]])
    expect(await verify({ archives, anchors: [early] })).toMatchObject({ ok: true, runs: 0, findings: [] });
});

test('an archive that was cut off hides no run that is gone, and none that was put back', async () => {
  const { state, file, archive, found } = archiving;
  const copy = state.keepCopy();
  state.tamper(
    `CREATE TRIGGER cut BEFORE INSERT ON archived WHEN NEW.run = 'r3' BEGIN SELECT RAISE(ABORT, 'cut off'); END`,
  );
  await expect(archive()).rejects.toThrow();
  state.tamper(`DROP TRIGGER cut; DELETE FROM archived WHERE run = 'r1'`);
  expect(await found({ archives: [file] })).toContainEqual(['archive_invalid', null]);
  state.putBack(copy, 'r1');
  expect(await found({ archives: [file] })).toContainEqual(['state_edited', null]);
});

test('a store that archived runs has them no more, and a write to one of them fails no other', async () => {
  await archiving.using(async (store) => {
    await create(store, sampleRun('r4'));
    for (const id of ['r1', 'r2', 'r3']) expect((await store.load(id))?.run.status).toBe('completed');
    await store.archive?.({ before: LATER, file: archiving.file, by: 'human:maria' });

    expect(await store.load('r1')).toBeUndefined();
    const notes = await Promise.all(
      ['r1', 'r4', 'r2'].map((id) => store.note(id, [sampleDraft('tool_judged')])),
    );
    expect(notes).toEqual([false, true, false]);
    expect(await store.archivedRun?.('r1')).toMatchObject({ file: archiving.file });
  });
  expect(await archiving.found({ archives: [archiving.file] })).toEqual([]);
});
