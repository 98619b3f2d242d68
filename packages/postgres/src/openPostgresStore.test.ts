import { hash } from 'node:crypto';
import { storeContract } from '@phasegate/core/store-contract';
import { describe, expect, test } from 'vitest';
import { freshSchema } from '../../../test/postgres/sharedServer.ts';
import { empty } from './fixtures/nodes.ts';
import { testSeal } from './fixtures/testSeal.ts';
import { openPostgresStore } from './openPostgresStore.ts';

const seal = testSeal();
const emptied: string[] = [];

storeContract(
  'PostgreSQL',
  async () => {
    const url = emptied.pop() ?? (await freshSchema());
    const open = () => openPostgresStore({ url, seal });
    const cleanup = async () => {
      await empty(url);
      emptied.push(url);
    };
    return { store: await open(), reopen: open, cleanup };
  },
  { describe, test, expect, sha256: (text) => hash('sha256', text) },
);
