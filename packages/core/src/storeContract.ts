// What every store must do, as a suite for any test runner, and the samples it is made of.

export { sampleAgent } from './storeContract/agentClauses.ts';
export { create, type Expect, requireStored } from './storeContract/clause.ts';
export { sampleLease } from './storeContract/leaseClauses.ts';
export {
  afterDraft,
  type Samples,
  type Sha256,
  sampleDraft,
  samplesWith,
  sampleWorkflow,
  startedEvent,
} from './storeContract/samples.ts';
export { type ContractRunner, type OpenedStore, storeContract } from './storeContract/storeContract.ts';
export { sampleWebhook } from './storeContract/webhookClauses.ts';
