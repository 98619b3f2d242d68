import { hash } from 'node:crypto';
import { create, samplesWith } from '@phasegate/core/store-contract';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { connectionSettings } from './connectionSettings.ts';
import { clientConfig, DATABASE_LIMITS } from './database.ts';
import { openNode } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';

const { sampleRun } = samplesWith((text) => hash('sha256', text));
const AWAY = { code: 'store_unavailable' };

test.each(['audit', 'runs', 'heads'])(
  'a node whose writes fail, as somebody keeps `%s` locked, says so until one would go well',
  async (table) => {
    const { node, other } = await makeBed({ lock: 100 });
    await other.query(`BEGIN; LOCK TABLE ${table} IN EXCLUSIVE MODE`);
    // Nothing failed yet, and nobody looks.
    await node.demandWritable?.();

    await expect(create(node, sampleRun('r1'))).rejects.toMatchObject(AWAY);
    expect(await node.feedEnd()).toBe(0);
    await expect(node.demandWritable?.()).rejects.toMatchObject(AWAY);

    await other.query('COMMIT');
    await node.demandWritable?.();
    await create(node, sampleRun('r1'));
  },
);

test('one write that was too slow makes no node unready', async () => {
  const { node, other } = await makeBed({ lock: 100 });
  await other.query('BEGIN; LOCK TABLE audit IN EXCLUSIVE MODE');
  await expect(create(node, sampleRun('r1'))).rejects.toMatchObject(AWAY);
  await other.query('COMMIT');

  await node.demandWritable?.();
});

test('the database is asked only after a write failed, once for all who ask, and nothing is left in it', async () => {
  const asked: string[] = [];
  const { node, other } = await makeBed({ lock: 100 }, asked);
  const tries = () => asked.filter((text) => text.startsWith('LOCK TABLE')).length;
  await create(node, sampleRun('r1'));
  await node.demandWritable?.();
  expect(tries()).toBe(0);
  await other.query('BEGIN; LOCK TABLE audit IN EXCLUSIVE MODE');
  await expect(create(node, sampleRun('r2'))).rejects.toMatchObject(AWAY);
  await other.query('COMMIT');

  await Promise.all(Array.from({ length: 20 }, () => node.demandWritable?.()));

  expect(tries()).toBe(1);
  expect((await other.query("SELECT 1 FROM touched WHERE what LIKE 'trial%'")).rowCount).toBe(0);
});

async function makeBed(limits: { readonly lock?: number }, asked: string[] = []) {
  const url = await freshSchema();
  const node = await openNode(url, testSeal(), {
    limits,
    intercept: (query) => (text, values) => {
      asked.push(text);
      return query(text, values);
    },
  });
  const other = new pg.Client(clientConfig(connectionSettings(url), { ...DATABASE_LIMITS, idle: 0 }));
  await other.connect();
  onTestFinished(() => other.end());
  return { node, other };
}
