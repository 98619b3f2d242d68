import { statSync } from 'node:fs';
import { createCutter, digestOf, NO_STEPS, sealStored, stateOf } from '@phasegate/audit';
import type { Run } from '@phasegate/core';
import type { Store } from '@phasegate/core/ports';
import { create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;

beforeEach(() => {
  state = makeStateFolder();
});

afterEach(() => state.remove());

test.each([
  ['small', 'done'],
  ['large', 'done '.repeat(300)],
])(
  'an item that is completed writes as much among ten thousand as among twenty, where what it hands in is %s',
  async (_, text) => {
    const written = [await bytesOfLast(20, 40, text), await bytesOfLast(10_000, 40, text)];

    const [few = 0, many = 0] = written;
    expect(few).toBeGreaterThan(4096);
    expect(many).toBeLessThan(2 * few);
  },
);

test('what was handed in for items is stored once', async () => {
  const store = state.open();
  let run = runWith(40);
  await create(store, run);
  for (let index = 0; index < 40; index += 1) {
    const evidence = { text: `done ${index} `.repeat(100) };
    run = completed(run, index, evidence);
    await store.save(run, index + 1, [sampleDraft('item_completed', { evidence })]);
  }
  await store.close();
  expect(state.read('SELECT kind, count(*) AS rows FROM texts GROUP BY kind')).toEqual([
    { kind: 0, rows: 40 },
    { kind: 3, rows: 1 },
    { kind: 4, rows: 40 },
  ]);
});

test('items are read again as they were written, and the view shows them', async () => {
  const store = state.open();
  let run = runWith(30);
  await create(store, run);
  for (const index of [3, 4, 29]) {
    run = completed(run, index, { text: `done ${index} `.repeat(100) });
    await store.save(run, run.epoch, []);
    run = { ...run, epoch: run.epoch + 1 };
  }
  await store.close();
  const again = state.open();
  expect((await again.load('r1'))?.run.work).toEqual(run.work);
  expect(Object.keys((await again.load('r1'))?.run.work.items ?? {})).toEqual(
    Object.keys(run.work.items ?? {}),
  );
  expect((await again.verify()).findings).toEqual([]);
  await again.close();
  const [row] = state.read('SELECT checkpoint_json FROM workflow_runs');
  const { parallelResults, ...checkpoint } = JSON.parse(String(row?.checkpoint_json));
  expect(checkpoint).toMatchObject({ currentStep: 'DRAFT', completedSteps: [] });
  expect(Object.keys(parallelResults).length).toBe(30);
  expect(parallelResults['area-4']).toMatchObject({
    status: 'completed',
    result: { text: expect.any(String) },
  });
  expect(parallelResults['area-5']).toEqual({ status: 'pending', result: null, error: null, retryCount: 0 });
});

test('a run whose many items stand in its state is read, and has them in its steps once it is written', async () => {
  const run = runWith(30);
  await stateBefore(run);

  const store = state.open();
  expect(await store.load('r1')).toEqual({ run, version: 1 });
  expect((await store.verify()).findings).toEqual([]);
  const next = completed(run, 7, { text: 'done' });
  expect(await store.save(next, 1, [sampleDraft('item_completed')])).toBe(true);
  await store.close();

  const again = state.open();
  expect(await again.load('r1')).toEqual({ run: next, version: 2 });
  expect((await again.verify()).findings).toEqual([]);
  await again.close();
  expect(state.read('SELECT kind FROM texts')).toEqual([{ kind: 3 }]);
});

test('how much is read of a run does not grow with how often an item of it changes [adv.O5]', async () => {
  const store = state.open();
  let run = runWith(17);
  await create(store, run);
  const read = async (times: number): Promise<number> => {
    for (const until = run.epoch + times; run.epoch < until; )
      run = await changedOnce(store, run, `${run.epoch} is not it. `.repeat(300));
    return Number(state.read(READ)[0]?.characters);
  };
  const [first, later] = [await read(300), await read(600)];
  await store.close();

  expect(later).toBeLessThan(2 * first);
  const [all] = state.read('SELECT sum(length(text)) AS characters FROM texts WHERE kind > 2');
  expect(Number(all?.characters)).toBeGreaterThan(5 * later);
  const again = state.open();
  expect((await again.load('r1'))?.run).toEqual(run);
  expect((await again.verify()).findings).toEqual([]);
  await again.close();
});

test('items as they were before all were written anew are not taken for those of now [adv.H2]', async () => {
  const store = state.open();
  let run = runWith(17);
  await create(store, run);
  while (state.read('SELECT 1 FROM texts WHERE kind = 3').length < 2)
    run = await changedOnce(store, run, `${run.epoch} is not it. `.repeat(300));
  await store.close();
  state.tamper('UPDATE runs SET last_step = (SELECT max(id) FROM texts WHERE kind = 4)');

  const again = state.open();
  await expect(again.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
  await again.close();
});

/** Characters of all steps that a run is made from. */
const READ = `WITH RECURSIVE steps(id, before, text) AS (
    SELECT id, before, text FROM texts WHERE id = (SELECT last_step FROM runs)
    UNION ALL SELECT earlier.id, earlier.before, earlier.text FROM steps JOIN texts AS earlier ON earlier.id = steps.before
  ) SELECT sum(length(text)) AS characters FROM steps`;

/** As an agent does that is refused again and again, or claims an item and gives it back. */
async function changedOnce(store: Store, run: Run, error: string): Promise<Run> {
  const { work, epoch } = run;
  const items = { ...work.items, 'area-3': { ...PENDING, value: 'area-3', error } };
  const next = { ...run, epoch: epoch + 1, work: { ...work, items } };
  expect(await store.save(next, epoch, [sampleDraft('item_claimed')])).toBe(true);
  return next;
}

describe('changed items of a run are found, and the run is refused [adv.H2]:', () => {
  test.each([
    ['one was changed', `UPDATE texts SET text = replace(text, 'done 3', 'done 8') WHERE kind = 4`],
    [
      'one among all was changed',
      `UPDATE texts SET text = replace(text, 'pending', 'completed') WHERE kind = 3`,
    ],
    ['the newest was left out', 'UPDATE runs SET last_step = last_step - 1'],
    ['all were dropped', 'DELETE FROM texts WHERE kind = 3'],
    ['all were said to be only some', 'UPDATE texts SET kind = 4 WHERE kind = 3'],
    ['they were said not to be there', 'UPDATE runs SET state = substr(state, 11)'],
  ])('%s', async (_, sql) => {
    const store = state.open();
    const run = runWith(30);
    await create(store, run);
    await store.save(completed(run, 3, { text: 'done 3' }), 1, [sampleDraft('item_completed')]);
    await store.close();
    state.tamper(sql);

    const again = state.open();
    await expect(again.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
    expect((await again.verify()).findings).toMatchObject([{ kind: 'state_edited', run: 'r1' }]);
    await again.close();
  });
});

/** How much the log grows by one more item, where so many of all are completed. */
async function bytesOfLast(all: number, times: number, text: string): Promise<number> {
  const folder = makeStateFolder();
  const store = folder.open();
  const log = () => statSync(`${folder.file}-wal`).size;
  let run = runWith(all);
  await create(store, run);
  const last = Math.min(times, all) - 1;
  for (let index = 0; index <= last; index += 1) {
    // A log that was brought in by itself would be written from its beginning, and not grow.
    if (index === last) folder.tamper('PRAGMA wal_checkpoint(TRUNCATE)');
    const evidence = { text: `${index} ${text}` };
    run = completed(run, index, evidence);
    await store.save(run, index + 1, [sampleDraft('item_completed', { evidence })]);
  }
  const written = log();
  await store.close();
  folder.remove();
  return written;
}

/** Makes the row as versions before wrote it. */
async function stateBefore(run: Run): Promise<void> {
  const store = state.open();
  await create(store, run);
  await store.close();
  const [row] = state.read('SELECT version, seq, lower(hex(hash)) AS hash FROM run_heads');
  const { text } = createCutter().json(stateOf(run));
  const head = { seq: Number(row?.seq), hash: String(row?.hash) };
  const sealed = { runId: run.id, workflowHash: run.workflowHash, version: Number(row?.version), head };
  const mac = sealStored(state.seal, { ...sealed, digest: digestOf(text), steps: NO_STEPS });
  state.tamper(`DELETE FROM texts; UPDATE runs SET last_step = NULL, state = '${text}';
    UPDATE run_heads SET mac = x'${mac}'`);
}

function runWith(many: number): Run {
  const keys = Array.from({ length: many }, (_, index) => `area-${index}`);
  const items = Object.fromEntries(keys.map((key) => [key, { ...PENDING, value: key }]));
  const run = sampleRun('r1');
  return { ...run, work: { ...run.work, items } };
}

function completed(run: Run, index: number, evidence: { readonly text: string }): Run {
  const key = `area-${index}`;
  const done = { ...PENDING, value: key, status: 'completed', evidence } as const;
  return { ...run, work: { ...run.work, items: { ...run.work.items, [key]: done } } };
}

const PENDING = { status: 'pending', evidence: null, attempts: 0, error: null } as const;
