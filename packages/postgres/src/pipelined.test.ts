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

const ALL = `SELECT heads.*, (SELECT json_agg(a) FROM audit a), (SELECT json_agg(h) FROM run_heads h),
    (SELECT json_agg(r) FROM runs r), (SELECT json_agg(t) FROM texts t) FROM heads`;
