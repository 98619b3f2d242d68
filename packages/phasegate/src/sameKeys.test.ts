import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fold } from '@phasegate/core';
import { openPostgresStore } from '@phasegate/postgres';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { type FoundKeys, findKeys, findSharedKeys, openKeys, type ProjectKeys } from './runtime/keys.ts';
import type { Store } from './runtime/ports.ts';
import { createSeal } from './runtime/seal.ts';
import { requireSameKeys } from './sameKeys.ts';

const REFUSED = { code: 'store_unavailable', message: expect.stringContaining('sealed with other keys') };

let base: string;
let node: string;
let other: string;
let url: string;
beforeEach(async () => {
  url = await freshSchema();
  base = mkdtempSync(join(tmpdir(), 'phasegate-same-keys-'));
  [node, other] = [join(base, 'node'), join(base, 'other')];
  for (const folder of [node, other]) mkdirSync(folder, { mode: 0o700 });
});

describe('where another node marks the database between the look of this one and its mark', () => {
  test('the keys that this one has just made are removed, and it is let in with the right ones', async () => {
    await expect(overtaken(findKeys(node))).rejects.toMatchObject(REFUSED);

    expect(readdirSync(node)).toEqual([]);
    const right = findSharedKeys(node, shareOf(other));
    await requireSameKeys(await storeOf(right.keys), { file: '', ...right });
    expect(openKeys(node)).toEqual(openKeys(other));
  });

  test('so is the copy that it has just made of the wrong file', async () => {
    openKeys(join(base, 'wrong'));

    await expect(overtaken(findSharedKeys(node, shareOf(join(base, 'wrong'))))).rejects.toMatchObject(
      REFUSED,
    );

    expect(readdirSync(node)).toEqual([]);
  });

  test('keys that were there before stay, its own and a copy with other secrets of tokens', async () => {
    const keys = openKeys(node);
    await expect(overtaken(findKeys(node))).rejects.toMatchObject(REFUSED);
    expect(openKeys(node)).toEqual(keys);

    const shared = shareOf(node);
    const text = readFileSync(shared, 'utf8');
    writeFileSync(shared, text.replace(keys.tokens.current.kid, 'rotated'));
    await expect(overtaken(findSharedKeys(node, shared))).rejects.toMatchObject(REFUSED);
    expect(openKeys(node)).toMatchObject({ rows: keys.rows, tokens: { current: { kid: 'rotated' } } });
  });

  test('keys that another process has put there stay', async () => {
    openKeys(join(base, 'third'));
    const put = () => copyFileSync(join(base, 'third/keys.json'), join(node, 'keys.json'));

    await expect(overtaken(findKeys(node), put)).rejects.toMatchObject(REFUSED);

    expect(openKeys(node)).toEqual(openKeys(join(base, 'third')));
  });

  test.each(['made', 'database-url', 'state.db'])(
    'keys with which another process has begun stay: there is `%s`',
    async (name) => {
      const found = findKeys(node);

      await expect(overtaken(found, () => writeFileSync(join(node, name), ''))).rejects.toMatchObject(
        REFUSED,
      );

      expect(openKeys(node)).toEqual(found.keys);
    },
  );
});

test('keys are kept where the mark fails otherwise: it may have been made', async () => {
  const found = findKeys(node);
  const store = await storeOf(found.keys);
  const cut = async () => Promise.reject(new Error('the connection is gone'));

  await expect(requireSameKeys({ ...store, keep: cut }, { file: '', ...found })).rejects.toThrow('is gone');

  expect(existsSync(join(node, 'keys.json'))).toBe(true);
});

/** Opens the database as this node, while the other one marks it after this one has looked. */
async function overtaken(found: FoundKeys, meanwhile: () => void = () => undefined): Promise<void> {
  const store = await storeOf(found.keys);
  const quicker = findKeys(other);
  const keep: Store['keep'] = async (...mark) => {
    await requireSameKeys(await storeOf(quicker.keys), { file: '', ...quicker });
    meanwhile();
    return store.keep(...mark);
  };
  const looked = { ...store, kept: async () => undefined, keep };
  await requireSameKeys(looked, { file: join(node, 'keys.json'), ...found });
}

/** The database that the nodes share. */
async function storeOf(keys: ProjectKeys): Promise<Store> {
  const store = await openPostgresStore({ url, seal: createSeal(keys), existed: false, fold });
  onTestFinished(() => store.close());
  return store;
}

/** A file with the keys of a state directory, for nodes to share. */
function shareOf(stateDir: string): string {
  const folder = mkdtempSync(join(base, 'shared-'));
  copyFileSync(join(stateDir, 'keys.json'), join(folder, 'keys.json'));
  return join(folder, 'keys.json');
}
