import { hash } from 'node:crypto';
import { afterDraft, create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { connectionSettings } from './connectionSettings.ts';
import { openDatabase } from './database.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));
const SWAPPING = 'WITH moved AS (\n    UPDATE run_heads';
const SENT = ['INSERT INTO audit', 'UPDATE heads', SWAPPING, 'UPDATE runs', 'INSERT INTO texts'] as const;
/** What cannot even be sent: in its place the statement after it is answered. */
const UNSENDABLE = {
  toPostgres() {
    throw new Error('no value');
  },
};

test('of a batch in which any statement fails nothing is written, and nothing of it is told as done', async () => {
  const [url, seal] = [await freshSchema(), testSeal()];
  let failing: string | null = null;
  let sent = true;
  const node = await openNode(url, seal, {
    intercept: (query, kind) => async (text, values) => {
      if (failing === null || kind !== 'writing' || !text.startsWith(failing)) return query(text, values);
      return sent ? query('SELECT 1 / 0') : query('SELECT $1::text', [UNSENDABLE]);
    },
  });
  const run = sampleRun('r1');
  await create(node, run);
  await create(node, sampleRun('r2'));
  const before = await tamper(url, ALL);
  const draft = sampleDraft('phase_completed', { notes: 'x'.repeat(3000) });
  const save = () => node.save(afterDraft(run), 1, [draft]);

  for (const text of SENT)
    for (sent of [true, false]) {
      failing = text;
      const told = await Promise.allSettled([save(), node.note('r2', [])]);
      failing = null;
      expect(told[0].status, `${text}, ${sent}`).toBe('rejected');
      expect(await tamper(url, ALL), `${text}, ${sent}`).toEqual(before);
    }

  expect(await save()).toBe(true);
  expect((await node.verify()).findings).toEqual([]);
});

test('a batch that would swap what is not as it was read is not committed, and done again', async () => {
  const [url, seal] = [await freshSchema(), testSeal()];
  const told: string[] = [];
  let isArmed = false;
  const node = await openNode(url, seal, {
    intercept:
      (query, kind) =>
      async (text, values = []) => {
        if (!isArmed || kind !== 'writing') return query(text, values);
        told.push(text);
        if (!text.startsWith(SWAPPING)) return query(text, values);
        isArmed = false;
        // It expects another version than there is.
        return query(
          text,
          values.map((value, index) => (index === 1 ? (value as number[]).map((n) => n + 1) : value)),
        );
      },
  });
  const run = sampleRun('r1');
  await create(node, run);
  isArmed = true;

  expect(await node.save(afterDraft(run), 1, [sampleDraft('phase_completed')])).toBe(true);

  expect(isArmed).toBe(false);
  expect(told.filter((text) => text.startsWith('INSERT INTO audit')).length).toBe(1);
  expect((await node.load('r1'))?.version).toBe(2);
  expect(await node.verify()).toMatchObject({ ok: true, records: 3 });
});

test('a commit that the database made a rollback of is not told as one', async () => {
  const database = openDatabase(connectionSettings(await freshSchema()));
  const swallowing = database.writing(async (query) => {
    await query('BEGIN');
    await query('SELECT 1 / 0').catch(() => undefined);
    return query('COMMIT');
  });

  await expect(swallowing).rejects.toThrow('rolled back');
  await database.close();
});

test.each([
  ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'error:0A000119:SSL routines::bad record mac', {}],
  ['53100', 'could not write to file: No space left on device', { severity: 'PANIC' }],
])(
  'the database is asked what became of a commit after %s, which says nothing of it',
  async (code, message, more) => {
    const [url, seal] = [await freshSchema(), testSeal()];
    let breaking: 'before' | 'after' | null = null;
    const node = await openNode(url, seal, {
      intercept: (query, kind) => async (text, values) => {
        if (kind !== 'writing' || text !== 'COMMIT' || breaking === null) return query(text, values);
        await query(breaking === 'after' ? text : 'ROLLBACK');
        breaking = null;
        throw Object.assign(new Error(message), { code, ...more });
      },
    });
    await create(node, sampleRun('r1'));
    const note = () => node.note('r1', [sampleDraft('tool_judged')]);

    breaking = 'after';
    expect(await note()).toBe(true);
    expect(await node.verify()).toMatchObject({ ok: true, records: 3 });

    breaking = 'before';
    const isTold = code === '53100';
    if (isTold) await expect(note()).rejects.toMatchObject({ code: 'store_unavailable' });
    else expect(await note()).toBe(true);
    expect(await node.verify()).toMatchObject({ ok: true, records: isTold ? 3 : 4 });
  },
);

test('a number that was given anew after a crash proves nothing: what was not written is done again, or not known', async () => {
  const [url, seal] = [await freshSchema(), testSeal()];
  let isCrashing = false;
  let isRestarted = false;
  const node = await openNode(url, seal, {
    intercept: (query, kind) => async (text, values) => {
      if (isCrashing && kind === 'writing' && text === 'COMMIT') {
        isCrashing = false;
        isRestarted = true;
        await query('ROLLBACK');
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      }
      const answered = await query(text, values);
      if (!isRestarted || !text.includes('pg_xact_status')) return answered;
      const rows = answered.rows.map((row) => ({ ...row, status: 'committed', server: 'started anew' }));
      return { ...answered, rows };
    },
  });
  await create(node, sampleRun('r1'));

  isCrashing = true;
  expect(await node.note('r1', [sampleDraft('tool_judged')])).toBe(true);
  expect(isRestarted).toBe(true);
  expect(await node.verify()).toMatchObject({ ok: true, records: 3 });

  const lease = { run: 'r1', item: null, agent: 'a', epoch: 1, jti: null, previousJti: null };
  const put = { ...lease, expiresAt: '2026-01-01T00:00:00.000Z' };
  await node.save(afterDraft(sampleRun('r1')), 1, [sampleDraft('phase_completed')], { leases: [{ put }] });
  isCrashing = true;
  const renewed = node.renewLease({ ...put, expiresAt: '2026-01-01T00:00:09.000Z' });
  await expect(renewed).rejects.toMatchObject({ code: 'store_unavailable' });
});

const ALL = `SELECT heads.*, (SELECT json_agg(a) FROM audit a), (SELECT json_agg(h) FROM run_heads h),
    (SELECT json_agg(r) FROM runs r), (SELECT json_agg(t) FROM texts t) FROM heads`;
