import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { addedTo } from '@phasegate/audit';
import type { Run } from '@phasegate/core';
import { artifactsOf } from '@phasegate/core/engine';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../../test/tier.ts';
import { makeStateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { withLateHistory } from './lateHistory.ts';

const MEGABYTE = 1024 * 1024;

type Completion = Run['completions'][number];

test('a run that ended is asked about again and again without its evidence being read, which is there when it is asked for', async () => {
  const { store, parsed } = opened();
  const run = sampleRun('r1');
  await create(store, run);
  const evidence = { text: 'e'.repeat(2 * MEGABYTE) };
  const completed = withCompletions(run, [evidence]);
  const ended = {
    ...completed,
    status: 'completed' as const,
    phase: null,
    epoch: run.epoch + 1,
  } as typeof run;
  expect(await store.save(ended, 1, [sampleDraft('phase_completed')])).toBe(true);
  await store.load('r1');

  parsed.length = 0;
  for (let n = 0; n < cases({ quick: 4, full: 20 }); n += 1) {
    await forgotten();
    expect((await store.load('r1'))?.run).toMatchObject({ id: 'r1', status: 'completed' });
    expect(await store.note('r1', [sampleDraft('token_refused')])).toBe(true);
  }
  expect(parsed.reduce((sum, length) => sum + length, 0)).toBeLessThan(MEGABYTE);

  expect((await store.load('r1'))?.run.completions).toEqual(ended.completions);
  expect({ ...(await store.load('r1'))?.run }).toEqual(ended);
  expect((await store.verify()).findings).toEqual([]);
});

test('live runs that are large together cost no more than their phases, and go on as they were', async () => {
  const { store, parsed } = opened();
  const evidence = { text: 'e'.repeat(8 * MEGABYTE) };
  const runs = Array.from({ length: 10 }, (_, n) => sampleRun(`r${n}`));
  for (const run of runs) {
    await create(store, run);
    expect(await store.save(withCompletions(run, [evidence]), 1, [sampleDraft('phase_completed')])).toBe(
      true,
    );
  }

  parsed.length = 0;
  for (let round = 0; round < cases({ quick: 1, full: 3 }); round += 1) {
    await forgotten();
    for (const { id, status } of runs) {
      expect(store.peek?.(id, null).run).toMatchObject({ id, status });
      expect(await store.note(id, [sampleDraft('tool_judged')])).toBe(true);
    }
  }
  expect(parsed.reduce((sum, length) => sum + length, 0)).toBeLessThan(MEGABYTE);

  const stored = await store.load('r0');
  const next = withCompletions(stored?.run as (typeof runs)[0], [evidence, { text: 'more' }]);
  expect(await store.save(next, stored?.version ?? 0, [sampleDraft('phase_completed')])).toBe(true);
  expect(
    (await store.load('r0'))?.run.completions.map(({ evidence: { text } }) => String(text).length),
  ).toEqual([8 * MEGABYTE, 4]);
  expect((await store.verify()).findings).toEqual([]);
});

test('what a run is kept without is held by nobody, and read as it was', async () => {
  const [small, large] = [{ a: 1 }, { text: 'e'.repeat(2000) }];
  const stored = withCompletions(sampleRun('r1'), [small, large]);
  const asked: number[] = [];
  const made = () => {
    const run = withCompletions(sampleRun('r1'), [small, { ...large }]);
    const light = withLateHistory(run, {
      completion(index) {
        asked.push(index);
        return stored.completions[index] as (typeof stored.completions)[number];
      },
      workflow: () => stored.workflow,
    });
    // The one who has them keeps them from being read again.
    expect(light.run.completions[1]?.evidence).toBe(run.completions[1]?.evidence);
    expect(light.run.workflow).toBe(run.workflow);
    expect({ ...light.run }).toEqual(run);
    expect(light.historyLength).toBeLessThan(2000);
    return light.run;
  };
  const light = made();
  await forgotten();

  expect(light.completions.map(({ phase, outcome }) => [phase, outcome])).toEqual([
    ['ONE', 'ok'],
    ['ONE', 'ok'],
  ]);
  expect(light.completions[0]?.evidence).toEqual(small);
  expect(asked).toEqual([]);
  expect(light.completions[1]?.evidence).toBe(stored.completions[1]?.evidence);
  expect(asked).toEqual([1]);
  expect(light.workflow).toBe(stored.workflow);
  // Made light once more, as a run that went on is: nothing is read for that.
  await forgotten();
  expect(withLateHistory(light, { completion: () => neverAsked() }).run.completions).toHaveLength(2);
});

test('completions that were made light one after the other are read in one place, and known for what they were', async () => {
  const large = () => ({ text: 'e'.repeat(2000) });
  const stored = withCompletions(sampleRun('r1'), [large(), large()]);
  const asked: number[] = [];
  const [first, second] = stored.completions as [Completion, Completion];
  const made = () => {
    const begun = withCompletions(sampleRun('r1'), [large()]);
    const { run: light } = withLateHistory(begun, { completion: () => neverAsked() });
    const write = JSON.stringify;
    JSON.stringify = neverAsked;
    try {
      // A write that was decided on what the run was before it was made light: nothing is written out to see that.
      expect(addedTo(light.completions, [...begun.completions, second], 'completions')).toEqual([second]);
      expect(() => addedTo([second], [first], 'completions')).toThrow('nothing was to be read');
    } finally {
      JSON.stringify = write;
    }
    const goesOn = { ...begun, completions: [...light.completions, { ...second, evidence: large() }] };
    return withLateHistory(goesOn, {
      completion(index) {
        asked.push(index);
        return [first, second][index] as Completion;
      },
    }).run;
  };
  const light = made();
  await forgotten();

  expect(light.completions.map(({ evidence }) => evidence)).toEqual([first.evidence, second.evidence]);
  expect(asked).toEqual([0, 1]);
});

test('of a run with much evidence a view reads what the newest visit of each phase left, and a list nothing', async () => {
  const { store, parsed } = opened();
  const evidence = { text: 'e'.repeat(8 * MEGABYTE) };
  const runs = Array.from({ length: 4 }, (_, n) => sampleRun(`r${n}`));
  for (const run of runs) {
    await create(store, run);
    const next = withCompletions(run, [evidence, evidence, { text: `f${'e'.repeat(2000)}` }]);
    expect(await store.save(next, 1, [sampleDraft('phase_completed')])).toBe(true);
  }
  await forgotten();

  parsed.length = 0;
  const run = (await store.load('r0'))?.run as (typeof runs)[0];
  expect(run.completions.at(-1)).toMatchObject({ phase: 'ONE', outcome: 'ok' });
  expect(parsed).toEqual([]);
  expect(JSON.stringify(artifactsOf(run)).length).toBeLessThan(3000);
  expect(parsed.reduce((sum, length) => sum + length, 0)).toBeLessThan(MEGABYTE);
});

test('evidence that was changed, or taken away, is not given as what was sealed', async () => {
  const { store, state } = opened();
  for (const id of ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9']) {
    const run = sampleRun(id);
    await create(store, run);
    expect(
      await store.save(withCompletions(run, [{ text: 'e'.repeat(8 * MEGABYTE) }]), 1, [
        sampleDraft('phase_completed'),
      ]),
    ).toBe(true);
  }
  const [one, other] = [(await store.load('r1'))?.run, (await store.load('r2'))?.run];
  await forgotten();
  state.tamper(`UPDATE texts SET text = replace(text, 'e', 'f') WHERE run = 1 AND kind = 0`);
  state.tamper(`DELETE FROM texts WHERE run = 2; DELETE FROM runs WHERE id = 'r2'`);

  expect(() => one?.completions[0]?.evidence).toThrow(expect.objectContaining({ code: 'state_tampered' }));
  expect(() => other?.completions[0]?.evidence).toThrow(expect.objectContaining({ code: 'run_changed' }));
});

function neverAsked(): never {
  throw new Error('nothing was to be read');
}

/** What was looked at in a turn is not collected before its end. */
async function forgotten(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  const gc: () => void = runInNewContext('gc');
  gc();
}

function withCompletions(
  run: ReturnType<typeof sampleRun>,
  all: readonly Readonly<Record<string, string | number>>[],
) {
  const after = afterDraft(run);
  const made = all.map((evidence) => ({
    phase: 'ONE',
    outcome: 'ok' as const,
    evidence,
    by: 'agent:ada',
    at: '2026-03-01T12:00:00.000Z',
  }));
  return { ...after, completions: made } as unknown as typeof run;
}

/** A store, and the lengths of all JSON that is read from then on. */
function opened() {
  const state = makeStateFolder();
  const store = state.open();
  const parse = JSON.parse;
  const parsed: number[] = [];
  JSON.parse = (text: string, ...more: []) => {
    parsed.push(text.length);
    return parse(text, ...more);
  };
  onTestFinished(async () => {
    JSON.parse = parse;
    await store.close();
    state.remove();
  });
  return { store, state, parsed };
}
