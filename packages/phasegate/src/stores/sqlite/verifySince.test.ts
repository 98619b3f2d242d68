import { copyFileSync, rmSync } from 'node:fs';
import type { Run, RunEvent, Workflow } from '@phasegate/core';
import { afterDraft, create, sampleDraft } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AuditReport, Store, VerifyOptions } from '../../runtime/ports.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';

let state: StateFolder;
let older: string;
let anchor: string;

beforeEach(async () => {
  state = makeStateFolder();
  await writing(async (store) => {
    for (const id of ['r1', 'r2', 'r3']) await create(store, sampleRun(id));
    await finishDraft(store, 'r2');
  });
  older = state.keepCopy();
  await writing(async (store) => {
    await store.note('r2', [sampleDraft('tool_judged', { tool: 'bash' }), sampleDraft('tool_judged')]);
    await store.note('r3', [sampleDraft('tool_judged')]);
  });
  anchor = await anchorNow();
});

afterEach(() => state.remove());

test('data that is spelled otherwise and says the same verifies', async () => {
  state.tamper(`UPDATE audit SET data = '{ "tool" : "\\u0062ash" }' WHERE run = 'r2' AND seq = 3`);
  expect(await verify()).toMatchObject({ ok: true });
});

test('since an anchor, only runs that changed and the chain of the project are read', async () => {
  // Three records of the project.
  expect(await verify({ since: anchor })).toMatchObject({ ok: true, runs: 3, records: 3, findings: [] });
  await writing(async (store) => {
    await finishDraft(store, 'r1');
    await create(store, sampleRun('r4'));
  });
  expect(await verify({ since: anchor })).toMatchObject({ ok: true, runs: 4, records: 7, findings: [] });
  const next = await anchorNow({ since: anchor });
  expect(await verify({ since: next })).toMatchObject({ ok: true, runs: 4, records: 4 });
});

test('an anchor is given where it is asked for and nothing was found', async () => {
  expect(await verify()).not.toHaveProperty('anchor');
  state.tamper(`UPDATE audit SET data = '{}' WHERE run = 'r2' AND seq = 3`);
  expect(await verify({ anchor: true })).not.toHaveProperty('anchor');
});

describe('since an anchor is found what was done to', () => {
  test('the whole database, put back to an older state that was signed too', async () => {
    rmSync(`${state.file}-wal`, { force: true });
    rmSync(`${state.file}-shm`, { force: true });
    copyFileSync(older, state.file);
    // No other verification could know.
    expect(await verify()).toMatchObject({ ok: true });
    expect(await found({ since: anchor })).toEqual([['head_invalid', null, null]]);
  });

  test('one run, put back', async () => {
    state.putBack(older, 'r2');
    expect(await found({ since: anchor })).toEqual([['run_rolled_back', 'r2', 2]]);
  });

  test('a run that changed since, before and after', async () => {
    await writing((store) => finishDraft(store, 'r1'));
    state.tamper(`UPDATE audit SET principal = 'human:eve' WHERE run = 'r1' AND seq = 1`);
    expect(await found({ since: anchor })).toEqual([['record_edited', 'r1', 1]]);
  });

  test.each([
    ['a record, taken out', `DELETE FROM audit WHERE run = 'r2' AND seq = 3`, ['record_missing', 'r2', 3]],
    ['the end of a chain', `DELETE FROM audit WHERE run = 'r2' AND seq = 4`, ['tail_cut', 'r2', 4]],
    ['a seal', `UPDATE runs SET mac = '' WHERE id = 'r2'`, ['state_edited', 'r2', 4]],
    ['how a run is listed', `UPDATE runs SET priority = 7 WHERE id = 'r2'`, ['state_edited', 'r2', 4]],
  ])('%s', async (_, sql, finding) => {
    state.tamper(sql);
    expect(await found({ since: anchor })).toEqual([finding]);
  });

  test('the number of a newer record, so that it seems to be older', async () => {
    await writing((store) => store.note('r1', [sampleDraft('tool_judged')]));
    state.tamper('UPDATE main.audit SET rowid = 0 WHERE rowid = (SELECT max(rowid) FROM main.audit)');
    expect(await found({ since: anchor })).toEqual([['run_rolled_back', 'r1', 2]]);
  });

  test('the number of an older record, so that it seems to be newer', async () => {
    state.tamper('UPDATE main.audit SET rowid = 9223372036854775800 WHERE rowid = 1');
    expect(await found({ since: anchor })).toEqual([['run_rolled_back', 'r1', 1]]);
    expect(await verify({ anchor: true })).toMatchObject({ ok: true });
  });

  test('a run that is gone', async () => {
    state.tamper(`DELETE FROM runs WHERE id = 'r1'; DELETE FROM audit WHERE run = 'r1'`);
    expect(await found({ since: anchor })).toEqual([['run_dropped', 'r1', null]]);
  });
});

describe('an anchor the project did not sign is believed nothing, and all is verified:', () => {
  test.each([
    ['what is none', () => 'x'],
    ['an empty one', () => ''],
    ['one of another project', () => foreignAnchor()],
    ['an edited one', () => editedAnchor()],
    ['a signed text of another kind', () => headAsAnchor()],
  ])('%s', async (_, forged) => {
    state.tamper(`UPDATE audit SET data = '{}' WHERE run = 'r2' AND seq = 3`);
    expect(await found({ since: await forged() })).toEqual([
      ['record_edited', 'r2', 3],
      ['head_invalid', null, null],
    ]);
  });
});

async function foreignAnchor(): Promise<string> {
  const other = makeStateFolder();
  const store = other.open({ fold });
  const report = await store.verify({ anchor: true }).finally(() => store.close());
  other.remove();
  return report.anchor ?? '';
}

function editedAnchor(): string {
  const [text = '', signature] = anchor.split('.');
  const told = JSON.parse(Buffer.from(text, 'base64url').toString());
  const edited = JSON.stringify({ ...told, runs: 2 });
  return `${Buffer.from(edited).toString('base64url')}.${signature}`;
}

function headAsAnchor(): string {
  const text = JSON.stringify({ purpose: 'phasegate audit head' });
  return `${Buffer.from(text).toString('base64url')}.${state.seal.sign(text)}`;
}

async function anchorNow(options: VerifyOptions = {}): Promise<string> {
  const report = await verify({ ...options, anchor: true });
  expect(report).toMatchObject({ ok: true, anchor: expect.any(String) });
  return report.anchor ?? '';
}

async function verify(options: VerifyOptions = {}): Promise<AuditReport> {
  const store = state.open({ fold });
  return store.verify(options).finally(() => store.close());
}

async function found(options: VerifyOptions) {
  return (await verify(options)).findings.map(({ kind, run, seq }) => [kind, run, seq]);
}

async function writing(write: (store: Store) => Promise<unknown>): Promise<void> {
  const store = state.open();
  await write(store);
  await store.close();
}

async function finishDraft(store: Store, id: string): Promise<void> {
  await store.save(afterDraft(sampleRun(id)), 1, [sampleDraft('phase_completed', { phase: 'DRAFT' })]);
}

/** What the events of these tests make. */
function fold(_: Workflow, events: readonly RunEvent[]): Run {
  const [first, ...rest] = events;
  if (first?.type !== 'run_started') throw new TypeError('a run begins with its start');
  const run = sampleRun(first.id);
  return rest.some(({ type }) => type === 'phase_completed') ? afterDraft(run) : run;
}
