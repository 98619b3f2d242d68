import { describe, expect, test } from 'vitest';
import { storeContract } from '../contract.ts';
import { makeStateFolder } from '../fixtures/openStores.ts';

storeContract(
  'sqlite',
  async () => {
    const state = makeStateFolder();
    return { store: state.open(), reopen: async () => state.open(), cleanup: async () => state.remove() };
  },
  { describe, test, expect },
);
