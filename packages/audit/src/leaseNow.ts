import type { HeldAt } from '@phasegate/core/engine';
import type { LeaseRecord } from '@phasegate/core/ports';

/** The lease there is with the end of its renewal, where that is later; null where another agent or epoch has it. */
export function renewedLease(held: LeaseRecord | undefined, renewal: LeaseRecord): LeaseRecord | null {
  if (held?.agent !== renewal.agent || held.epoch !== renewal.epoch) return null;
  return renewal.expiresAt > held.expiresAt ? { ...held, expiresAt: renewal.expiresAt } : held;
}

/** The lease with a fresh token, beside which the one before it in the same epoch stays good; it never ends earlier by it. */
export function leaseWithToken(held: LeaseRecord | undefined, fresh: LeaseRecord): LeaseRecord {
  if (held?.agent !== fresh.agent || held.epoch !== fresh.epoch) return { ...fresh, previousJti: null };
  const expiresAt = fresh.expiresAt > held.expiresAt ? fresh.expiresAt : held.expiresAt;
  return { ...fresh, expiresAt, previousJti: held.jti };
}

/** What must be so for an agent to have a lease: that it holds what it is on, in its epoch. */
export function heldBy({ epoch, agent, item }: LeaseRecord): HeldAt {
  return { epoch, agent, item };
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

/** Whether nothing was seen that is another one by now. */
export function isUnchanged(
  seen: LeaseRecord | undefined,
  leaseOf: (item: string | null) => LeaseRecord | undefined,
): boolean {
  return seen === undefined || isSameLease(leaseOf(seen.item), seen);
}
