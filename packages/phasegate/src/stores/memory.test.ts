import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@phasegate/core/store-contract';
import { describe, expect, test } from 'vitest';
import { openKeys } from '../runtime/keys.ts';
import { createSeal } from '../runtime/seal.ts';
import { storeContract } from './contract.ts';
import { sampleRun } from './fixtures/sampleRun.ts';
import { createMemoryStore } from './memory.ts';

const seal = createSeal(openKeys(join(tmpdir(), `phasegate-memory-${randomBytes(6).toString('hex')}`)));

storeContract('memory', async () => ({ store: createMemoryStore({ seal }), cleanup: async () => {} }), {
  describe,
  test,
  expect,
});

test('a memory store that was closed answers nothing', async () => {
  const store = createMemoryStore({ seal });
  await create(store, sampleRun('r1'));
  await store.close();
  await expect(store.load('r1')).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('a memory store has nothing to back up and says so', async () => {
  await expect(createMemoryStore({ seal }).backup('x.db')).rejects.toMatchObject({
    code: 'store_unavailable',
  });
});

test('a run whose hash names another workflow is refused', async () => {
  const store = createMemoryStore({ seal });
  await expect(create(store, sampleRun('r1', { workflowHash: 'not-it' }))).rejects.toMatchObject({
    code: 'internal',
  });
});
