import type { Run, RunEvent, Workflow } from '@phasegate/core';
import { create } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;

beforeEach(async () => {
  state = makeStateFolder();
  const store = state.open();
  for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
  await store.close();
});

afterEach(() => state.remove());

test('others get their turn while the events of one run are folded, and each event is a sign of work', async () => {
  let [isTheirTurn, seen, told] = [false, false, 0];
  function* slowly(_: Workflow, [first]: readonly RunEvent[]): Generator<undefined, Run> {
    isTheirTurn = false;
    setImmediate(() => {
      isTheirTurn = true;
    });
    for (let step = 0; step < 3000; step += 1) yield;
    seen ||= isTheirTurn;
    return sampleRun(first?.type === 'run_started' ? first.id : '');
  }
  const store = state.open({ fold: slowly });
  const onProgress = (steps: number) => {
    told = steps;
  };
  const report = await store.verify({ onProgress });
  await store.close();
  expect(report).toMatchObject({ ok: true, runs: 3 });
  expect(seen).toBe(true);
  expect(told).toBeGreaterThanOrEqual(9000);
});

test('a run that its events do not make is found, however they are folded', async () => {
  function* otherwise(): Generator<undefined, Run> {
    yield;
    return sampleRun('other');
  }
  const store = state.open({ fold: otherwise });
  const report = await store.verify();
  await store.close();
  expect(report.findings.map(({ kind }) => kind)).toEqual(['state_edited', 'state_edited', 'state_edited']);
});

test('what fails while a run is folded, and not in it, is no word on the run', async () => {
  function* slowly(_: Workflow, [first]: readonly RunEvent[]): Generator<undefined, Run> {
    for (let step = 0; step < 3000; step += 1) yield;
    return sampleRun(first?.type === 'run_started' ? first.id : '');
  }
  const store = state.open({ fold: slowly });
  const onProgress = () => {
    throw new Error('nobody reads this any more');
  };
  await expect(store.verify({ onProgress })).rejects.toThrow('nobody reads this any more');
  await store.close();
});
