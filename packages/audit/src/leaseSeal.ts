import type { LeaseRecord, Seal } from '@phasegate/core/ports';
import { recordMac } from './sealedRecord.ts';

/** The seal of a lease. */
export function leaseMac(seal: Seal, lease: LeaseRecord): string {
  const { run, item, agent, epoch, expiresAt, jti, previousJti } = lease;
  return recordMac(seal, 'lease', [run, item, agent, epoch, expiresAt, jti, previousJti]);
}

/** A lease as messages name it. */
export function nameOfLease({ run, item }: LeaseRecord): string {
  return item === null ? `the lease of run \`${run}\`` : `the lease of item \`${item}\` of run \`${run}\``;
}
