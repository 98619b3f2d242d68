import { create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;

beforeEach(async () => {
  state = makeStateFolder();
  const store = state.open();
  for (const id of ['r1', 'r2']) await create(store, sampleRun(id));
  const notes = [1, 2, 3].map((note) => sampleDraft('tool_judged', { note }));
  await store.note('r2', notes);
  await store.close();
});

afterEach(() => state.remove());

describe('what is read with all records and is in no chain is found [adv.M2]:', () => {
  test.each([
    ['a negative number', -5, '#-5'],
    ['the lowest of all numbers', '-9223372036854775808', '#-9223372036854775808'],
    ['the highest of all numbers', '9223372036854775807', '#9223372036854775807'],
    ['the number of a run that is not there', 77, '#77'],
  ])('%s', async (_, run, name) => {
    state.tamper(`INSERT INTO main.audit (run, seq, time, principal, event, data, prev, hash)
      VALUES (${run}, 1, 0, 'engine:phasegate', 'files_recorded', '{}', x'', x'00')`);
    expect(await found()).toEqual([['run_dropped', name, null]]);
  });
});

describe('records that stand elsewhere among all than they were written are found and named [adv.M2]:', () => {
  /** Everything that reads all chains at once goes by these numbers: the feed, webhooks, `verify-range`. */
  const numberOf = (run: string, seq: number) =>
    `(SELECT id FROM main.audit WHERE run = (SELECT key FROM main.runs WHERE id = '${run}') AND seq = ${seq})`;

  test('two of one run, exchanged', async () => {
    const [third, fourth] = ['r2', 'r2'].map((run, index) =>
      state.read(`SELECT ${numberOf(run, 3 + index)} AS id`).map(({ id }) => Number(id)),
    );
    state.tamper(`UPDATE main.audit SET id = 1000000 WHERE id = ${third};
      UPDATE main.audit SET id = ${third} WHERE id = ${fourth};
      UPDATE main.audit SET id = ${fourth} WHERE id = 1000000`);
    expect(await found()).toEqual([['record_edited', 'r2', 4]]);
  });

  test('one of a run, with a number that nobody reads', async () => {
    state.tamper(`UPDATE main.audit SET id = -id WHERE id = ${numberOf('r2', 3)}`);
    expect(await found()).toEqual([['record_edited', 'r2', 3]]);
  });

  test("one of the project's chain, with a number that nobody reads", async () => {
    state.tamper('UPDATE main.audit SET id = -id WHERE run = 0 AND seq = 2');
    expect(await found()).toEqual([['record_edited', null, 2]]);
  });
});

async function found() {
  const store = state.open();
  const { findings } = await store.verify();
  await store.close();
  return findings.map(({ kind, run, seq }) => [kind, run, seq]);
}
