import type { Store } from '../runtime/ports.ts';

/** The part of a store that is about the project rather than a run: who takes part, and who is told. */
export type ProjectStore = Pick<
  Store,
  | 'humans'
  | 'putHuman'
  | 'removeHuman'
  | 'trusted'
  | 'trustedBefore'
  | 'putTrust'
  | 'agents'
  | 'putAgent'
  | 'removeAgent'
  | 'webhooks'
  | 'putWebhook'
  | 'removeWebhook'
  | 'putProgress'
  | 'putBackup'
  | 'databaseBackups'
>;
