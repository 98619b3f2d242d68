import type { Run } from '@phasegate/core';
import { create } from '@phasegate/core/store-contract';
import { expect, onTestFinished, test } from 'vitest';
import { makeStateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

/** What versions before 0.2 took from an agent, and what is left of it in the text of a record. */
const TAKEN = { p: { '\ud800': 1, '\ud801': 2 } };
const LEFT = { p: { '\ufffd': 2 } };

test.each([
  ['as its records can tell them', LEFT, []],
  ['otherwise', { p: { '\ufffd': 3 } }, ['state_edited']],
])('a run of an earlier version has keys with halves of pairs %s', async (_, state, found) => {
  const folder = makeStateFolder();
  onTestFinished(() => folder.remove());
  const run = sampleRun('r1', { state: TAKEN });
  const store = folder.open({ fold: () => ({ ...run, state }) as Run });
  await create(store, run);

  const { findings } = await store.verify();

  expect(findings.map(({ kind }) => kind)).toEqual(found);
  await store.close();
});
