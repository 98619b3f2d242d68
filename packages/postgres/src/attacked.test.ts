import { hash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Seal } from '@phasegate/core/ports';
import { create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test, vi } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { databaseAddress } from '../../phasegate/src/config/databaseAddress.ts';
import { openState } from '../../phasegate/src/localStore.ts';
import { coalesced } from './coalesced.ts';
import { connectionSettings } from './connectionSettings.ts';
import { DATABASE_LIMITS, openDatabase } from './database.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { createWorkflows } from './workflows.ts';

const seal: Seal = testSeal();
const { sampleRun } = samplesWith((text) => hash('sha256', text));

test('a connection that is cut between two statements fails who uses it, and not the process', async () => {
  const url = await freshSchema();
  const database = openDatabase(connectionSettings(url), { ...DATABASE_LIMITS, readers: 1 });

  const asked = database.reading(async (query) => {
    const { rows } = await query('SELECT pg_backend_pid() AS pid');
    const pid = Number(rows[0]?.pid);
    await tamper(url, `SELECT pg_terminate_backend(${pid}, 5000)`);
    // The word of its end comes while nothing is asked.
    await tamper(url, 'SELECT 1');
    return query('SELECT 1');
  });

  await expect(asked).rejects.toMatchObject({ code: 'store_unavailable' });
  expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await database.close();
});

test('a name that cannot be stored is the name of nothing, and fails nobody who asks at the same time', async () => {
  const node = await openNode(await freshSchema(), seal);
  await create(node, sampleRun('r1'));

  const answers = await Promise.all([
    node.load('r1').then((found) => found?.version),
    node.load('a\0b'),
    node.load('a\ud800'),
    node.lease('r1', null),
    node.lease('r1', 'x\0'),
    node.calls('r1', null).then(({ begun }) => begun),
    node.calls('\0', null).then(({ begun }) => begun),
    node.note('r1', [sampleDraft('tool_judged')]),
    node.note('\0', [sampleDraft('tool_judged')]),
  ]);

  expect(answers).toEqual([1, undefined, undefined, undefined, undefined, 0, 0, true, false]);
  const page = { after: 0, limit: 9 };
  for (const name of ['a\0b', 'a\ud800']) {
    expect([await node.archivedRun?.(name), await node.kept('session', name)]).toEqual([
      undefined,
      undefined,
    ]);
    expect([await node.history(name, page), await node.list({ workflow: name })]).toEqual([[], []]);
    expect([await node.keptAll('session', name), await node.list({ holder: name })]).toEqual([[], []]);
  }
});

test('a value that the database refuses fails the one question it is of', async () => {
  const database = openDatabase(connectionSettings(await freshSchema()));
  const ask = coalesced(async (keys: readonly string[]) => {
    await database.query('SELECT unnest($1::text[])::integer', [keys]);
    return (key) => Number(key);
  });

  const answers = await Promise.allSettled(['1', '2', 'no number', '4', '5'].map(ask));

  expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused'))).toEqual([
    1,
    2,
    'refused',
    4,
    5,
  ]);
  await database.close();
});

test('however many read, what is to be written is written', async () => {
  const node = await openNode(await freshSchema(), seal, { limits: { readers: 1, waiting: 2 } });
  await create(node, sampleRun('r1'));

  const reads = [1, 2, 3].map(() => node.history('r1', { after: 0, limit: 1 }));
  const written = node.note('r1', [sampleDraft('tool_judged')]);

  expect((await Promise.allSettled(reads)).map(({ status }) => status)).toContain('rejected');
  expect(await written).toBe(true);
});

test('however many ask for what is kept, as strangers do who guess sessions, it is a few questions', async () => {
  const node = await openNode(await freshSchema(), seal, { limits: { readers: 1, waiting: 3 } });
  await node.keep({ kind: 'session', key: 'k1', data: { of: 'ada' } }, { run: null, audit: [] });

  const guesses = Array.from({ length: 200 }, (_, n) => node.kept('session', `k${n}`));
  const beside = node.load('r1');

  expect((await Promise.all(guesses)).filter((found) => found !== undefined)).toEqual([{ of: 'ada' }]);
  expect(await beside).toBeUndefined();
});

test('what one write throws, or the database refuses of it, fails no other of its batch', async () => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  await create(node, sampleRun('r2'));
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const note = (run: string | null) => node.note(run, [sampleDraft('tool_judged')]);
  const kept = { kind: 'session', key: 'k', data: {} };

  const thrown = await Promise.allSettled([
    note('r2'),
    node.keep(kept, { run: null, audit: [], was: cycle as never }),
    note(null),
  ]);
  // A record where the next one belongs, planted by somebody with the database.
  await tamper(
    url,
    `INSERT INTO audit SELECT era, 1000000, run, seq + 1, time, principal, event, data, prev, hash FROM audit
      WHERE run = (SELECT key FROM runs WHERE id = 'r1')`,
  );
  const refused = await Promise.allSettled([note('r2'), note('r1'), note(null)]);

  for (const answers of [thrown, refused])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('records that are in no chain, or stand elsewhere than they were written, are found and named [adv.M2]', async () => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  await node.note('r1', [sampleDraft('tool_judged'), sampleDraft('tool_judged')]);
  const found = async () => (await node.verify()).findings.map(({ kind, run, seq }) => [kind, run, seq]);
  const ofRun = `run = (SELECT key FROM runs WHERE id = 'r1')`;
  /** Planted in the month of the run, which is read with all other records. */
  const plant = (run: number, place: number) =>
    tamper(
      url,
      `INSERT INTO audit SELECT era, ${place}, ${run}, 1, time, principal, event, '{}', '', hash FROM audit
        WHERE ${ofRun} AND seq = 1`,
    );
  expect(await found()).toEqual([]);

  await plant(-5, 900);
  await plant(0, 901);
  expect(await found()).toEqual([
    ['run_dropped', '#-5', null],
    ['run_dropped', '#0', null],
  ]);
  await tamper(url, 'DELETE FROM audit WHERE place >= 900');
  await tamper(url, `UPDATE audit SET place = -place WHERE ${ofRun} AND seq = 2`);
  expect(await found()).toEqual([['record_edited', 'r1', 2]]);
});

test('a commit whose answer is lost is not done again, whatever was written in it', async () => {
  let cuts = 0;
  const node = await openNode(await freshSchema(), seal, {
    intercept: (query, kind) => async (text, values) => {
      const answered = await query(text, values);
      if (kind !== 'writing' || text !== 'COMMIT' || cuts !== 1) return answered;
      cuts = 2;
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    },
  });
  await node.keep({ kind: 'session', key: 'k', data: {} }, { run: null, audit: [] });
  cuts = 1;

  expect(await node.dropKept('session', 'k', true)).toBe(1);
  expect(cuts).toBe(2);
});

test('what was read of workflows is there for who read it, however many others are read', async () => {
  const { workflow, workflowHash } = sampleRun('r1');
  const workflows = createWorkflows();
  const fetched = workflows.fetch(async () => {
    // All that is known is dropped while the question is on its way.
    for (let n = 0; n < 1000; n += 1) workflows.shared(`other ${n}`, workflow);
    return { rows: [{ hash: workflowHash, data: JSON.stringify(workflow) }], count: 1 };
  }, ['first', workflowHash]);

  expect([...(await fetched).keys()]).toEqual([workflowHash]);
});

test('a database that was made and is gone is not made anew', async () => {
  const url = await freshSchema();
  const stateDir = mkdtempSync(join(tmpdir(), 'phasegate-state-'));
  await (await openState({ root: stateDir, stateDir, env: {}, database: url })).store.close();
  await (await openState({ root: stateDir, stateDir, env: {} })).store.close();
  await tamper(url, `DROP SCHEMA "${connectionSettings(url).schema}" CASCADE`);

  await expect(openState({ root: stateDir, stateDir, env: {} })).rejects.toMatchObject({
    code: 'store_corrupt',
  });
  await expect(openState({ root: stateDir, stateDir, env: {}, database: url })).rejects.toMatchObject({
    code: 'store_corrupt',
  });
});

test('a host in a parameter is no way to another database than the one the runs are in', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'phasegate-state-'));
  databaseAddress(stateDir, {}, 'postgres://u:p@db.example/x')?.remember();

  expect(() =>
    databaseAddress(stateDir, { PHASEGATE_DATABASE: 'postgres://eve@db.example/x?host=127.0.0.1' }),
  ).toThrow('the runs of this project are in');
});

test('a column that is added while nodes run fails no question', async () => {
  const url = await freshSchema();
  const node = await openNode(url, seal);
  await create(node, sampleRun('r1'));
  const history = () => node.history('r1', { after: 0, limit: 5 });
  const before = await Promise.all([history(), history(), history()]);
  await tamper(url, 'ALTER TABLE audit ADD COLUMN more text');

  expect(await Promise.all([history(), history(), history()])).toEqual(before);
});

test('what is dropped while another node changes it is dropped after the change', async () => {
  const url = await freshSchema();
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let armed = false;
  const one = await openNode(url, seal, {
    intercept: (query) => async (text, values) => {
      if (armed && text.startsWith('INSERT INTO kept')) {
        reached.resolve();
        await gate.promise;
      }
      return query(text, values);
    },
  });
  const other = await openNode(url, seal);
  const record = (n: number) => ({ kind: 'session', key: 'k', data: { n } });
  await one.keep(record(1), { run: null, audit: [] });
  armed = true;
  const kept = one.keep(record(2), { run: null, audit: [], was: { n: 1 } });
  await reached.promise;
  const dropped = other.dropKept('session', 'k', true);
  const waits = vi.waitUntil(async () => (await tamper(url, WAITING)).length > 0, { timeout: 2_000 });
  await Promise.race([dropped, waits]);
  gate.resolve();

  expect([await kept, await dropped]).toEqual([true, 1]);
  expect(await other.kept('session', 'k')).toBeUndefined();
  await waits.catch(() => undefined);
});

const WAITING = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
