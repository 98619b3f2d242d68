import { describe, expect, test } from 'vitest';
import { freshSchema } from '../../../../../test/postgres/sharedServer.ts';
import { FULL } from '../../../../../test/tier.ts';
import { openNode, tamper } from '../../../../postgres/src/fixtures/nodes.ts';
import { testSeal } from '../../../../postgres/src/fixtures/testSeal.ts';
import type { SignInRows } from '../ports.ts';
import { memoryRows } from './memoryRows.ts';
import { sharedRows } from './sharedRows.ts';

/** Rows as two who share them have them. */
type Two = readonly [SignInRows, SignInRows];

const PLACES: readonly (readonly [name: string, open: () => Promise<Two>])[] = [
  [
    'in one process',
    async () => {
      const rows = memoryRows(() => 5);
      return [rows, rows];
    },
  ],
  [
    'in PostgreSQL, by two nodes',
    async () => {
      const [url, seal] = [await freshSchema(), testSeal()];
      const stores = [await openNode(url, seal), await openNode(url, seal)] as const;
      return [sharedRows(stores[0], () => 5), sharedRows(stores[1], () => 5)];
    },
  ],
];

describe.each(PLACES)('rows of sign-ins %s', (_, open) => {
  test('are written over what was there, dropped once, and never come back by who had read them', async () => {
    const [one, two] = await open();
    const [first, second] = [{ used: 1 }, { used: 2 }];
    const row = { key: 'k', data: first };

    expect(await two.get('session', 'k')).toBe(null);
    expect(await one.put('session', row, null)).toBe(true);
    expect(await two.get('session', 'k')).toEqual(first);
    expect(await two.put('session', row, null)).toBe(false);
    expect(await two.put('session', { key: 'k', data: second }, second)).toBe(false);
    expect(await two.put('session', { key: 'k', data: second }, first)).toBe(true);
    expect(await one.all('session')).toMatchObject([{ key: 'k', data: second }]);
    expect(await one.all('code')).toEqual([]);
    expect(await one.get('code', 'k')).toBe(null);

    expect(await one.drop('code', 'k')).toBe(false);
    expect(await one.drop('session', 'k')).toBe(true);
    expect(await two.get('session', 'k')).toBe(null);
    expect(await two.drop('session', 'k')).toBe(false);
    expect(await two.put('session', { key: 'k', data: { used: 3 } }, second)).toBe(false);
    expect(await one.all('session')).toEqual([]);
    expect(one.now()).toBe(5);
  });

  test('are dropped by one of those who drop at once, and made by one of those who make them', async () => {
    const nodes = await open();
    await nodes[0].put('code', { key: 'k', data: {} }, null);

    const dropped = await Promise.all([0, 1, 0, 1].map((at) => nodes[at === 0 ? 0 : 1].drop('code', 'k')));
    const made = await Promise.all(
      [0, 1, 0, 1].map((at) => nodes[at === 0 ? 0 : 1].put('challenges', { key: 'k', data: { at } }, null)),
    );

    expect(dropped.filter(Boolean)).toHaveLength(1);
    expect(made.filter(Boolean)).toHaveLength(1);
  });
});

test.runIf(FULL).each([
  ['changed', `UPDATE kept SET data = '{"name":"maria"}'`, 'session', 'k'],
  ['moved to another key', `UPDATE kept SET key = 'other'`, 'session', 'other'],
  ['made another kind', `UPDATE kept SET kind = 'sign_in_code'`, 'code', 'k'],
] as const)('a row in PostgreSQL that somebody without the keys has %s opens nothing', async (...row) => {
  const [, sql, kind, key] = row;
  const url = await freshSchema();
  const rows = sharedRows(await openNode(url, testSeal()), () => 5);
  await rows.put('session', { key: 'k', data: { name: 'joe' } }, null);

  await tamper(url, sql);

  await expect(rows.get(kind, key)).rejects.toMatchObject({ code: 'state_tampered' });
});
