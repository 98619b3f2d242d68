import { statSync } from 'node:fs';
import type { Json, Run } from '@phasegate/core';
import {
  afterDraft,
  create,
  requireStored,
  sampleDraft,
  sampleWorkflow,
} from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../runtime/ports.ts';
import { storeContract } from '../contract.ts';
import { commitsInLog } from '../fixtures/commitsInLog.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

storeContract(
  'sqlite',
  async () => {
    const state = makeStateFolder();
    return { store: state.open(), reopen: async () => state.open(), cleanup: async () => state.remove() };
  },
  { describe, test, expect },
);

let state: StateFolder;
let store: Store;

beforeEach(() => {
  state = makeStateFolder();
  store = state.open();
});

afterEach(async () => {
  await store.close();
  state.remove();
});

describe('a number no JSON has (1e999)', () => {
  test('fails the write that brings it, and none of its neighbours in the same commit [adv.O1]', async () => {
    const run = sampleRun('r1');
    await create(store, run);
    const infinite = sampleDraft('tool_judged', { answer: Number.POSITIVE_INFINITY });

    const ended = await Promise.allSettled([
      store.note('r1', [sampleDraft('tool_judged')]),
      store.note('r1', [infinite]),
      store.save(afterDraft(run), 1, [infinite]),
      store.note(null, [infinite]),
      store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]),
    ]);

    expect(ended.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
    ]);
    expect(ended[1]).toMatchObject({
      reason: {
        code: 'request_invalid',
        message: 'what is to be stored has at `answer` a number that JSON cannot hold',
      },
    });
    expect((await requireStored(store, 'r1')).version).toBe(2);
    expect((await store.verify()).findings).toEqual([]);
  });
});

test('keys of which canonical JSON would make one fail the write that brings them [adv.O1]', async () => {
  const run = sampleRun('r1');
  await create(store, run);
  const value = { p: { '\ud800': 1, '\ud801': 2 } };

  await expect(store.save(afterDraft(run), 1, [sampleDraft('phase_completed', value)])).rejects.toMatchObject(
    {
      code: 'request_invalid',
      message: 'what is to be stored has at `p` a key with half of a surrogate pair',
    },
  );
  expect(await store.note('r1', [sampleDraft('tool_judged', { word: '\ud800' })])).toBe(true);
  // A record stands around what was let in: it may be deeper, whatever its words are.
  for (const word of ['x', '\ufffd']) {
    const deep = Array.from({ length: 210 }).reduce<Json>((value) => [value], word);
    expect(await store.note('r1', [sampleDraft('tool_judged', { deep })])).toBe(true);
  }
  expect((await store.verify()).findings).toEqual([]);
});

describe('a run in the database', () => {
  test('comes back without loss, with the workflow it was started with [S0.50 C5 C25]', async () => {
    const workflow = { ...sampleWorkflow(), description: 'as it was at the start' };
    const run = sampleRun('r1', { workflow, params: { mode: 'full', deep: { list: [1, null, 'x'] } } });
    await create(store, run);
    await store.close();

    store = state.open();
    const stored = await requireStored(store, 'r1');
    expect(stored).toEqual({ run, version: 1 });
    expect(Object.keys(stored.run.workflow)).toEqual(Object.keys(workflow));
  });

  test('is stored without its workflow, which is there once for all runs', async () => {
    for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
    expect(state.read('SELECT count(*) AS n FROM workflows')).toEqual([{ n: 1 }]);
    expect(state.read("SELECT json_type(state, '$.workflow') AS has FROM runs")).toEqual([
      { has: null },
      { has: null },
      { has: null },
    ]);
  });

  test('is seen at once by another process, and its writes by this one [adv.K2]', async () => {
    const other = state.open();
    const run = sampleRun('r1');
    await create(store, run);
    expect((await requireStored(other, 'r1')).version).toBe(1);

    await other.save(afterDraft(run), 1, [sampleDraft('phase_completed')]);
    expect(await requireStored(store, 'r1')).toEqual({ run: afterDraft(run), version: 2 });
    expect(await store.save(afterDraft(run), 1, [])).toBe(false);
    expect(await store.save(afterDraft(run, { epoch: 3 }), 2, [])).toBe(true);
    expect((await requireStored(other, 'r1')).run.epoch).toBe(3);
    expect(await other.note('r1', [sampleDraft('tool_judged')], 2)).toBe(false);
    expect(await other.note('r1', [sampleDraft('tool_judged')], 3)).toBe(true);
    expect((await store.verify()).findings).toEqual([]);
    await other.close();
  });

  test('goes on being the same object while nobody else writes to it', async () => {
    await create(store, sampleRun('r1'));
    const { run } = await requireStored(store, 'r1');
    state.tamper("INSERT INTO database_backups (id, created_at, path) VALUES ('x', 'now', 'x')");
    expect((await requireStored(store, 'r1')).run).toBe(run);
  });

  test('cannot change its workflow unless its audit says so', async () => {
    const run = sampleRun('r1');
    await create(store, run);
    const moved = sampleRun('r1', { workflow: sampleWorkflow('other') });
    await expect(store.save(moved, 1, [])).rejects.toMatchObject({ code: 'internal' });
  });

  test('is shown to code-defined workflows by the columns they know [S3.76 S3.80]', async () => {
    const decision = {
      gate: 'ship#2',
      option: 'Approve',
      input: null,
      shown: 's',
      by: 'ada',
      at: 't',
      signature: 'x',
    };
    const run = afterDraft(sampleRun('r1'), {
      iterations: { REVIEW: 2 },
      decisions: [decision],
      work: {
        ...sampleRun('r1').work,
        attempts: 1,
        failure: 'no notes',
        items: { a: { status: 'failed', value: 1, evidence: null, attempts: 2, error: 'broke' } },
      },
    });
    await create(store, run);
    const [row] = state.read('SELECT * FROM workflow_runs');
    expect(row).toMatchObject({ id: 'r1', type: 'sample', current_step: 'REVIEW' });
    expect(JSON.parse(String(row?.iteration_counts))).toEqual({ REVIEW: 2 });
    expect(JSON.parse(String(row?.checkpoint_json))).toEqual({
      workflowRunId: 'r1',
      workflowType: 'sample',
      currentStep: 'REVIEW',
      completedSteps: [
        { step: 'DRAFT', completedAt: '2026-01-01T00:00:00.000Z', result: { notes: 'drafted' } },
      ],
      iterationCounts: { REVIEW: 2 },
      pendingRetry: { step: 'REVIEW', error: 'no notes', attempt: 1 },
      parallelResults: { a: { status: 'failed', result: null, error: 'broke', retryCount: 2 } },
      gateDecision: { gate: 'ship#2', option: 'Approve', input: null },
    });
  });

  test('that has ended shows no step and nothing pending', async () => {
    await create(store, { ...sampleRun('r1'), status: 'completed', phase: null } as Run);
    const [row] = state.read('SELECT * FROM workflow_runs');
    expect(row?.current_step).toBe(null);
    expect(JSON.parse(String(row?.checkpoint_json))).toMatchObject({
      currentStep: null,
      completedSteps: [],
      pendingRetry: null,
      parallelResults: null,
      gateDecision: null,
    });
  });
});

describe('a changed row', () => {
  test('makes its run unreadable and unwritable, and no other [adv.H2]', async () => {
    for (const id of ['r1', 'r2']) await create(store, sampleRun(id));
    await store.close();
    state.tamper(`UPDATE runs SET state = replace(state, '"active"', '"completed"') WHERE id = 'r1'`);

    store = state.open();
    await expect(store.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
    await expect(store.load('r1')).rejects.toThrow('`r1`');
    const answers = await Promise.allSettled([
      store.save(sampleRun('r1'), 1, []),
      store.note('r1', [sampleDraft('tool_judged')]),
      store.save(afterDraft(sampleRun('r2')), 1, [sampleDraft('phase_completed')]),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect((await store.history('r1', { after: 0, limit: 9 })).length).toBe(1);
  });

  test('cannot be made good by an older seal of another version', async () => {
    const run = sampleRun('r1');
    await create(store, run);
    const [old] = state.read("SELECT state, mac FROM runs WHERE id = 'r1'");
    await store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]);
    await store.close();
    state.tamper(`UPDATE runs SET state = '${old?.state}', mac = '${old?.mac}' WHERE id = 'r1'`);
    store = state.open();
    await expect(store.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
  });

  test('of a workflow makes its runs unreadable [C5 adv.G9]', async () => {
    await create(store, sampleRun('r1'));
    await store.close();
    state.tamper(`UPDATE workflows SET data = replace(data, '"REVIEW"', '"COMPLETE"')`);
    store = state.open();
    await expect(store.load('r1')).rejects.toMatchObject({ code: 'state_tampered' });
  });

  test('put in by hand makes nobody a human and trusts nothing [adv.J1]', async () => {
    await store.putHuman(human('ada'), [sampleDraft('human_added')]);
    const trust = { hash: 'h', workflow: 'w', files: {}, by: 'ada', at: 't', signature: 's' };
    await store.putTrust(trust, [sampleDraft('workflow_trusted')]);
    state.tamper(`
      INSERT INTO humans SELECT 'eve', public_key, replace(data, 'ada', 'eve'), NULL, mac FROM humans;
      UPDATE trusted SET data = replace(data, '"h"', '"g"'), hash = 'g';
    `);
    await expect(store.humans()).rejects.toMatchObject({ code: 'state_tampered' });
    await expect(store.trusted('g')).rejects.toMatchObject({ code: 'state_tampered' });
    await expect(store.trustedBefore('w')).rejects.toMatchObject({ code: 'state_tampered' });
  });
});

describe('a run many notes are made on at once', () => {
  test('is written once for all of them, and its state not at all', async () => {
    const run = sampleRun('r1', { state: { large: 'x'.repeat(200_000) } });
    await create(store, run);
    // The first record's number takes less room than those after it.
    await store.note('r1', [sampleDraft('tool_judged')], 1);
    const before = statSync(`${state.file}-wal`).size;
    const notes = Array.from({ length: 100 }, (_, n) =>
      store.note('r1', [sampleDraft('tool_judged', { n })], 1),
    );
    expect((await Promise.all(notes)).every((kept) => kept)).toBe(true);
    expect(statSync(`${state.file}-wal`).size - before).toBeLessThan(150_000);
    await store.close();
    store = state.open();
    expect(await requireStored(store, 'r1')).toEqual({ run, version: 1 });
    expect(await store.verify()).toMatchObject({ ok: true, records: 103 });
  });

  test('whose row was changed meanwhile refuses them, and only them [adv.H2]', async () => {
    for (const id of ['r1', 'r2']) await create(store, sampleRun(id));
    state.tamper("UPDATE runs SET version = 9 WHERE id = 'r1'");
    const answers = await Promise.allSettled([
      store.note('r1', [sampleDraft('tool_judged')], 1),
      store.note('r2', [sampleDraft('tool_judged')], 1),
      store.save(afterDraft(sampleRun('r1')), 1, []),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  });
});

describe('writes that wait together', () => {
  test('are one transaction, and one that waits alone is one too', async () => {
    await create(store, sampleRun('first'));
    const before = commitsInLog(state.file);
    await Promise.all(Array.from({ length: 20 }, (_, n) => create(store, sampleRun(`r${n}`))));
    expect(commitsInLog(state.file)).toBe(before + 1);
    await store.note('r1', [sampleDraft('tool_judged')]);
    expect(commitsInLog(state.file)).toBe(before + 2);
  });

  test('fail alone: one that cannot be written leaves nothing and takes no other with it [S0.47 adv.O1]', async () => {
    const [one, two] = [sampleRun('r1'), sampleRun('r2')];
    await create(store, one);
    await create(store, two);
    state.tamper(
      `INSERT INTO audit (run, seq, time, principal, event, data, prev, hash)
       SELECT run, 2, time, principal, event, data, prev, hash FROM audit WHERE run = 'r1'`,
    );

    const answers = await Promise.allSettled([
      store.save(afterDraft(two), 1, [sampleDraft('phase_completed')], {
        project: [sampleDraft('run_ended')],
      }),
      store.save(afterDraft(one), 1, [sampleDraft('phase_completed')]),
      store.note('r2', [sampleDraft('tool_judged')]),
    ]);
    expect(answers).toMatchObject([{ value: true }, { reason: { code: 'audit_broken' } }, { value: true }]);
    expect(await requireStored(store, 'r1')).toEqual({ run: one, version: 1 });
    expect(await requireStored(store, 'r2')).toEqual({ run: afterDraft(two), version: 2 });
    expect((await store.history('r2', { after: 0, limit: 9 })).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect((await store.history(null, { after: 0, limit: 9 })).length).toBe(3);

    state.tamper("DELETE FROM audit WHERE run = 'r1' AND seq = 2");
    expect(await store.save(afterDraft(one), 1, [sampleDraft('phase_completed')])).toBe(true);
    expect((await store.verify()).findings).toEqual([]);
  });

  test('build on each other within one batch', async () => {
    const run = sampleRun('r1');
    const answers = await Promise.all([
      create(store, run),
      store.note('r1', [sampleDraft('tool_judged')], 1),
      store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]),
      store.note('r1', [sampleDraft('tool_judged')], 2),
      store.save(afterDraft(run, { epoch: 3 }), 2, []),
      create(store, run),
    ]);
    expect(answers).toEqual([true, true, true, true, true, false]);
    expect((await store.history('r1', { after: 0, limit: 9 })).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(await store.verify()).toMatchObject({ ok: true, records: 5 });
  });

  test('are all written before a close that follows them', async () => {
    const answers = [create(store, sampleRun('r1')), create(store, sampleRun('r2'))];
    await store.close();
    expect(await Promise.all(answers)).toEqual([true, true]);
    await expect(store.load('r1')).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(create(store, sampleRun('r3'))).rejects.toMatchObject({ code: 'store_unavailable' });
    store = state.open();
    expect((await store.verify()).runs).toBe(2);
  });
});

function human(name: string) {
  const wrappedKey = { kdf: 'scrypt', n: 1, r: 1, p: 1, salt: '', iv: '', tag: '', ciphertext: '' } as const;
  return { name, publicKey: `key of ${name}`, wrappedKey, addedAt: 't' };
}
