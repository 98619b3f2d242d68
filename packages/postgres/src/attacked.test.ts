import { hash } from 'node:crypto';
import type { Seal } from '@phasegate/core/ports';
import { create, sampleDraft, samplesWith } from '@phasegate/core/store-contract';
import { expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { coalesced } from './coalesced.ts';
import { connectionSettings } from './connectionSettings.ts';
import { DATABASE_LIMITS, openDatabase } from './database.ts';
import { openNode, tamper } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

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
