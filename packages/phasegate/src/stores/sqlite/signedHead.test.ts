import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../runtime/ports.ts';
import { commitsInLog } from '../fixtures/commitsInLog.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

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

describe('the signed head', () => {
  test('takes in what runs wrote at most once a second, and the rest when the store is closed', async () => {
    const run = sampleRun('r1');
    await create(store, run);
    expect((await store.verify()).unanchored).toBe(0);
    await store.save(afterDraft(run), 1, [sampleDraft('phase_completed')]);
    await store.note('r1', [sampleDraft('tool_judged')]);
    expect(await store.verify()).toMatchObject({ ok: true, unanchored: 2 });

    state.clock.time += 1000;
    await store.note('r1', [sampleDraft('tool_judged')]);
    expect((await store.verify()).unanchored).toBe(0);

    await store.note('r1', [sampleDraft('tool_judged')]);
    expect((await store.verify()).unanchored).toBe(1);
    const waiting = store.note('r1', [sampleDraft('tool_judged')]);
    await store.close();
    expect(await waiting).toBe(true);
    store = state.open();
    expect(await store.verify()).toMatchObject({ ok: true, records: 7, unanchored: 0 });
  });

  test('takes in what a process wrote that died before it could', async () => {
    await create(store, sampleRun('r1'));
    await store.note('r1', [sampleDraft('tool_judged')]);
    const next = state.open();
    expect((await next.verify()).unanchored).toBe(1);
    await create(next, sampleRun('r2'));
    expect(await next.verify()).toMatchObject({ ok: true, unanchored: 0 });
    await next.close();
    await store.note('r1', [sampleDraft('tool_judged')]);
    expect((await store.verify()).findings).toEqual([]);
  });

  test('is there from the first record on: what a process leaves that dies at once is no false alarm', async () => {
    await store.create(sampleRun('r1'), [sampleDraft('run_started')], []);
    const next = state.open();
    expect(await next.verify()).toMatchObject({ ok: true, runs: 1, unanchored: 0 });
    await next.close();
    state.tamper('DELETE FROM heads');
    const after = state.open();
    expect((await after.verify()).findings).toMatchObject([{ kind: 'head_invalid' }]);
    const noted = after.note('r1', [sampleDraft('tool_judged')]);
    await expect(noted).rejects.toMatchObject({ code: 'audit_broken' });
    await expect(after.close()).rejects.toMatchObject({ code: 'audit_broken' });
  });

  test('is signed with the first write of a process, which needs no second commit to close', async () => {
    await create(store, sampleRun('r1'));
    const next = state.open();
    const before = commitsInLog(state.file);
    expect(await next.note('r1', [sampleDraft('tool_judged')])).toBe(true);
    expect((await next.verify()).unanchored).toBe(0);
    await next.close();
    expect(commitsInLog(state.file)).toBe(before + 1);
  });

  test('that was forged is not signed on: writes are refused', async () => {
    const run = sampleRun('r1');
    await create(store, run);
    await store.close();
    state.tamper("UPDATE heads SET project_seq = 0, project_hash = ''; DELETE FROM audit WHERE run = ''");
    store = state.open();
    await expect(create(store, sampleRun('r2'))).rejects.toMatchObject({ code: 'audit_broken' });
    await expect(store.note(null, [sampleDraft('start_refused')])).rejects.toMatchObject({
      code: 'audit_broken',
    });
    expect(await store.load('r2')).toBe(undefined);
  });

  test('that is gone is not begun anew', async () => {
    await create(store, sampleRun('r1'));
    await store.close();
    state.tamper('DELETE FROM heads');
    store = state.open();
    await expect(create(store, sampleRun('r2'))).rejects.toMatchObject({ code: 'audit_broken' });
  });
});
