import type { Run } from '@phasegate/core';
import type { GateDecision } from '@phasegate/core/engine';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;

beforeEach(async () => {
  state = makeStateFolder();
  const store = state.open();
  for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
  await store.save(afterDraft(sampleRun('r2')), 1, [sampleDraft('phase_completed', { phase: 'DRAFT' })]);
  await store.note('r2', [sampleDraft('tool_judged', { tool: 'bash' }), sampleDraft('tool_judged')]);
  await store.close();
});

afterEach(() => state.remove());

describe('a changed history of a run is found and named, and the run is refused [adv.H2]:', () => {
  const evidence = { work: { lines: Array.from({ length: 80 }, (_, line) => `line ${line}`) } };

  beforeEach(async () => {
    const store = state.open();
    let run = afterDraft(sampleRun('r2'));
    for (const version of [2, 3, 4]) {
      const [first] = run.completions;
      const completions = [...run.completions, { ...first, visit: version, evidence }] as Run['completions'];
      run = { ...run, completions, decisions: [...run.decisions, decision('ada', `${version}`)] };
      await store.save(run, version, [sampleDraft('phase_completed', { evidence })]);
    }
    await store.close();
  });

  test('nobody touched it', async () => {
    const store = state.open();
    expect((await store.verify()).findings).toEqual([]);
    await store.close();
    // The first of them is small, and the others hand in the same, which their records have, too.
    expect(counted('kind = 0')).toBe(1);
    expect(counted('kind > 0')).toBe(7);
  });

  const LAST = '(SELECT max(id) FROM texts WHERE kind = 1)';
  test.each([
    [
      'a completion was changed',
      `UPDATE texts SET text = replace(text, '"ok"', '"fail"') WHERE id = ${LAST}`,
    ],
    ['a decision was changed', `UPDATE texts SET text = replace(text, 'Approve', 'Reject') WHERE kind = 2`],
    ['the newest was dropped', `DELETE FROM texts WHERE id = ${LAST}`],
    ['the newest was left out', `UPDATE runs SET last_step = last_step - 1 WHERE id = 'r2'`],
    ['the first was dropped', `DELETE FROM texts WHERE id = (SELECT min(id) FROM texts WHERE kind = 1)`],
    ['one was left out', `UPDATE texts SET before = before - 2 WHERE id = ${LAST}`],
    [
      'one was added',
      `INSERT INTO texts (run, kind, before, text) SELECT run, kind, id, text FROM texts
       WHERE id = ${LAST}; UPDATE runs SET last_step = (SELECT max(id) FROM texts) WHERE id = 'r2'`,
    ],
    [
      'two have changed places',
      `UPDATE texts SET text = (SELECT text FROM texts AS other WHERE other.kind = texts.kind
       AND other.id <> texts.id ORDER BY other.id DESC LIMIT 1) WHERE kind = 1`,
    ],
    ['they lead around in a circle', `UPDATE texts SET before = ${LAST} WHERE kind = 1`],
  ])('%s', async (_, sql) => {
    state.tamper(sql);
    expect(await kindsFound()).toEqual([['state_edited', 'r2']]);
    await expectRefused();
  });

  test.each([
    ['changed', `UPDATE texts SET text = replace(text, 'line 7', 'line x') WHERE kind = 0`],
    ['dropped', 'DELETE FROM texts WHERE kind = 0'],
    ['made into no JSON', `UPDATE texts SET text = '{' WHERE kind = 0`],
  ])('what was handed in was %s: the records say so, too', async (_, sql) => {
    state.tamper(sql);
    const findings = await kindsFound();
    expect(findings).toContainEqual(['record_edited', 'r2']);
    expect(findings).toContainEqual(['state_edited', 'r2']);
    await expectRefused();
  });

  test('a place that leads nowhere in a record is an edited record', async () => {
    state.tamper(
      `UPDATE audit SET data = replace(data, char(1), char(1) || '9') WHERE run = 'r2' AND seq = 6`,
    );
    expect(await kindsFound()).toEqual([['record_edited', 'r2']]);
  });

  test('the row with its head was dropped', async () => {
    state.tamper('DELETE FROM run_heads WHERE run = 2');
    expect(await kindsFound()).toContainEqual(['state_edited', 'r2']);
    await expectRefused();
  });

  function counted(which: string) {
    return state.read(`SELECT count(*) AS n FROM texts WHERE ${which}`)[0]?.n;
  }

  async function kindsFound() {
    const store = state.open();
    const { findings } = await store.verify();
    await store.close();
    return findings.map(({ kind, run }) => [kind, run]);
  }

  async function expectRefused() {
    const store = state.open();
    await expect(store.load('r2')).rejects.toMatchObject({ code: 'state_tampered' });
    expect((await store.history('r2', { after: 0, limit: 99 })).length).toBe(7);
    await store.close();
  }
});

function decision(by: string, signature: string): GateDecision {
  const at = '1970-01-01T00:00:00.000Z';
  return { gate: 'ship#1', option: 'Approve', input: null, shown: 's', by, at, signature };
}
