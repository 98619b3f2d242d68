import { readdirSync, readFileSync } from 'node:fs';
import type { Run } from '@phasegate/core';
import { afterDraft, create, sampleDraft, sampleWorkflow } from '@phasegate/core/store-contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toFormat } from '../fixtures/olderFormat.ts';
import { makeStateFolder, type StateFolder } from '../fixtures/openStores.ts';
import { sampleRun } from '../fixtures/sampleRun.ts';
import { FEED_OF } from './auditTable.ts';
import { LEASES_ENDED } from './leaseTable.ts';
import {
  CLAIMABLE,
  GATES_DUE,
  HELD,
  IN_WORKSPACE,
  listOf,
  NEEDS,
  NOT_OVER,
  QUIET,
  STOPPED,
  STUCK,
} from './runFinder.ts';

let state: StateFolder;

beforeEach(() => {
  state = makeStateFolder();
});

afterEach(() => state.remove());

describe('what is found and listed is read in order by an index, without going over all and without sorting', () => {
  test.each([
    ['all runs', listOf({ limit: 5 }).sql],
    ['runs of a status', listOf({ status: 'active', limit: 5 }).sql],
    ['runs of a workflow', listOf({ workflow: 'w', limit: 5 }).sql],
    ['runs of a workflow in a status', listOf({ workflow: 'w', status: 'active', limit: 5 }).sql],
    ['runs of a holder', listOf({ holder: 'ada', limit: 5 }).sql],
    ['runs of a holder in a status', listOf({ holder: 'ada', status: 'active', limit: 5 }).sql],
    ['runs to claim', CLAIMABLE],
    ['gates that are due', GATES_DUE],
    ['quiet runs', QUIET],
    ['what was said of a stuck run', STUCK],
    ['runs that are not over', `${NOT_OVER} target_key = ?`],
    ['all runs of a workflow that are not over', `${NOT_OVER} target_key IS NOT NULL LIMIT ?`],
    ['runs that were stopped', `${STOPPED} target_key = ? AND updated_at < ?`],
    ['runs an agent holds', HELD],
    ['runs that have the workspace', IN_WORKSPACE],
    ['leases that ended', LEASES_ENDED],
  ])('%s', async (_, sql) => {
    await state.open().close();
    const plan = state.read(`EXPLAIN QUERY PLAN ${sql}`).map(({ detail }) => String(detail));
    expect(plan.filter((step) => /SCAN (?!\(subquery|page$)|TEMP B-TREE/.test(step))).toEqual([]);
    expect(plan.some((step) => /SEARCH \w+ USING (?:COVERING )?INDEX/.test(step))).toBe(true);
  });

  test('records since a time', async () => {
    await state.open().close();
    const plan = state.read(`EXPLAIN QUERY PLAN ${FEED_OF}`).map(({ detail }) => String(detail));
    expect(plan[0]).toBe('SEARCH audit USING INTEGER PRIMARY KEY (rowid>?)');
    expect(plan.filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
  });

  test('what runs to claim need', async () => {
    await state.open().close();
    const plan = state.read(`EXPLAIN QUERY PLAN ${NEEDS}`).map(({ detail }) => String(detail));
    expect(plan.filter((step) => step.includes('runs') && step.startsWith('SCAN'))).toEqual([]);
  });
});

test('a transition that changes nothing a run is found by writes to no index', async () => {
  const store = state.open();
  const run = sampleRun('r1');
  await create(store, run);
  state.tamper(`UPDATE runs SET holder = 'left alone'`);

  expect(await store.save(afterDraft(run), 1, [sampleDraft('phase_completed')])).toBe(true);
  expect(state.read('SELECT holder, version FROM runs')).toEqual([{ holder: 'left alone', version: 2 }]);
  expect(await store.save(afterDraft(run, { holder: 'ada' }), 2, [])).toBe(true);
  expect(state.read('SELECT holder, version FROM runs')).toEqual([{ holder: 'ada', version: 3 }]);
  await store.close();
});

test('a run that another process let rest is quiet again once this one writes it', async () => {
  const [here, there] = [state.open(), state.open()];
  const run = sampleRun('r1');
  await create(here, run);
  await here.load('r1');
  await there.lookAgain('r1', 1, null);
  expect(await here.quiet({ since: '2027', limit: 9 })).toEqual([]);

  expect(await here.save(afterDraft(run), 1, [])).toBe(true);
  expect(await there.quiet({ since: '2027', limit: 9 })).toMatchObject([{ run: 'r1' }]);
  await Promise.all([here.close(), there.close()]);
});

test.each([
  ['hidden from claims', 'UPDATE runs SET claim_place = NULL'],
  ['put first', "UPDATE runs SET claim_place = ''"],
  ['said to be about something else', "UPDATE runs SET target_key = 'elsewhere'"],
  ['said to be over', 'UPDATE runs SET target_key = NULL'],
  ['given a gate that is due', "UPDATE runs SET gate_due = ''"],
  ['said to have the workspace', "INSERT INTO workspaces SELECT key, 'exclusive' FROM main.runs"],
])('a run that was %s from outside is found by a verification [adv.H2]', async (_, sql) => {
  const store = state.open();
  await create(store, sampleRun('r1', { status: 'queued', holder: null, target: 'a.md' }));
  await store.close();
  state.tamper(sql);

  const again = state.open();
  expect(await again.verify()).toMatchObject({ findings: [{ kind: 'state_edited', run: 'r1' }] });
  await again.close();
});

test('the runs of a database of the format before are found as new ones are [S3.80]', async () => {
  const items = { a: { status: 'pending', value: 1, evidence: null, attempts: 0, error: null } } as const;
  const open = sampleRun('open', { queue: { priority: 1, capabilities: ['gpu'] } });
  const gated = gatedRun();
  const first = state.open();
  await create(first, { ...open, work: { ...open.work, items } });
  await create(first, sampleRun('queued', { status: 'queued', holder: null, target: './a.md' }));
  await create(first, gated);
  await create(first, sampleRun('unreadable', { status: 'queued', holder: null }));
  await create(first, { ...sampleRun('over', { target: 'a.md' }), status: 'completed', phase: null } as Run);
  const before = await found(first);
  await first.close();
  const rows = rowsOf();
  await toFormat(state, 6);
  expect(() => rowsOf()).toThrow('no such column');
  state.tamper(`UPDATE runs SET state = 'nothing to read' WHERE id = 'unreadable'`);

  const again = state.open();
  expect(rowsOf().filter(({ id }) => id !== 'unreadable')).toEqual(
    rows.filter(({ id }) => id !== 'unreadable'),
  );
  // One that cannot be read is looked at by everybody, who say what is wrong with it.
  expect(await found(again)).toEqual({
    claimable: ['unreadable', 'open', 'queued'],
    due: ['unreadable', 'gated'],
    quiet: before.quiet,
    about: before.about,
    all: before.all,
  });
  expect(before.claimable).toEqual(['open', 'queued', 'unreadable']);
  expect(await again.verify()).toMatchObject({ findings: [{ run: 'unreadable' }] });
  await again.close();
});

test('a run under way in a database of the format before has the workspace [S3.80]', async () => {
  const { phases, ...workflow } = sampleWorkflow();
  const writing = { ...workflow, phases: phases.map((phase) => ({ ...phase, writes: ['**'] })) };
  const first = state.open();
  await create(first, sampleRun('writing', { workflow: writing }));
  await create(first, sampleRun('waiting', { workflow: writing, status: 'queued', holder: null }));
  await create(first, sampleRun('reading'));
  await first.close();
  const places = 'SELECT run, place FROM workspaces';
  const before = state.read(places);
  await toFormat(state, 11);
  expect(() => state.read(places)).toThrow('no such table');

  const again = state.open();
  expect(state.read(places)).toEqual(before);
  expect((await again.inWorkspace({ use: 'exclusive' }, ''))?.run).toBe('writing');
  expect(await again.inWorkspace({ use: 'shared' }, '')).toBe(undefined);
  expect((await again.verify()).ok).toBe(true);
  await again.close();
});

async function found(store: ReturnType<StateFolder['open']>) {
  const ids = (runs: readonly { readonly run: string }[]) => runs.map(({ run }) => run);
  return {
    claimable: ids(await store.claimable({ capabilities: ['gpu'], limit: 9 })),
    due: await store.gatesDue('2026-01-01T00:01:00.000Z'),
    quiet: ids(await store.quiet({ since: '2027', limit: 9 })),
    about: ids(await store.notOver({ workflow: 'sample', targets: ['a.md'] })),
    all: ids(await store.list({})),
  };
}

function rowsOf() {
  return state.read('SELECT id, claim_place, gate_due, target_key, quiet_since FROM runs');
}

function gatedRun(): Run {
  const plain = sampleWorkflow('gated');
  const timeout = { afterSeconds: 60, afterwards: 'escalate' };
  const humanGate = { id: 'ok', prompt: 'Go?', options: [], approvers: [], quorum: 1, timeout, context: [] };
  const workflow = { ...plain, phases: plain.phases.map((phase) => ({ ...phase, humanGate })) };
  const wait = { for: 'gate', gate: 'ok#1', since: '2026-01-01T00:00:00.000Z', evidence: {}, votes: [] };
  return {
    ...sampleRun('gated', { workflow } as unknown as Partial<Run>),
    status: 'waiting',
    wait,
  } as unknown as Run;
}

test('no statement numbers its parameters: the oldest Node takes `?1` for a name and binds nothing to it', () => {
  const here = new URL('.', import.meta.url);
  const numbered = readdirSync(here)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => /\?\d/.test(readFileSync(new URL(name, here), 'utf8')));

  expect(numbered).toEqual([]);
});
