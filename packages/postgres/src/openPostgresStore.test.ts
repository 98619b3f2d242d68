import { hash } from 'node:crypto';
import { storeContract } from '@phasegate/core/store-contract';
import { describe, expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const seal = testSeal();

storeContract(
  'PostgreSQL',
  async () => {
    const url = await freshSchema();
    const open = () => openPostgresStore({ url, seal });
    return { store: await open(), reopen: open, cleanup: async () => undefined };
  },
  { describe, test, expect, sha256: (text) => hash('sha256', text) },
);
