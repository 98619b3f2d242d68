import { hash } from 'node:crypto';
import {
  type OpenedStore,
  type ContractRunner as SuiteRunner,
  storeContract as suite,
} from '@phasegate/core/store-contract';

export type { OpenedStore };

/** The test runner's own words, given by the caller so that none is needed here. */
export type ContractRunner = Omit<SuiteRunner, 'sha256'>;

/** The suite of `@phasegate/core/store-contract` with Node's hash. Use it as `storeContract('mine', open, { describe, test, expect })`. */
export function storeContract(name: string, open: () => Promise<OpenedStore>, runner: ContractRunner): void {
  suite(name, open, { ...runner, sha256: (text) => hash('sha256', text) });
}
