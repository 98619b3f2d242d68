import type { LeaseRecord } from '@phasegate/core/ports';

/** The lease there is with the end of its renewal, where that is later; null where another agent or epoch has it. */
export function renewedLease(held: LeaseRecord | undefined, renewal: LeaseRecord): LeaseRecord | null {
  if (held?.agent !== renewal.agent || held.epoch !== renewal.epoch) return null;
  return renewal.expiresAt > held.expiresAt ? { ...held, expiresAt: renewal.expiresAt } : held;
}

/** Whether a lease is still the one that was seen: nobody renewed it, took it over or got a token for it since. */
export function isSameLease(held: LeaseRecord | undefined, seen: LeaseRecord): boolean {
  return (
    held !== undefined &&
    held.agent === seen.agent &&
    held.epoch === seen.epoch &&
    held.expiresAt === seen.expiresAt &&
    held.jti === seen.jti
  );
}
