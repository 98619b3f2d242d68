import type { Run } from '@phasegate/core';
import { heldItems } from '@phasegate/core/engine';
import type { LeaseRecord, LeaseStore } from '../ports.ts';
import { leaseEnd, leaseMs } from './leaseTerms.ts';

/** Keeps leases alive while their agents are heard of. */
export interface Renewals {
  /** Renews a lease when less than two thirds of it are left. Nobody waits for it: a lost renewal only shortens it. */
  renew(lease: LeaseRecord, run: Run): void;
  /** The same for an agent that came without a token; looked at once in a while. */
  hear(run: Run, agent: string): void;
}

/** Renews the leases of the agents this process hears of. */
export function createRenewals(parts: {
  readonly store: LeaseStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}): Renewals {
  const { store, now } = parts;
  const underWay = new Set<string>();
  const lastHeard = new Map<string, number>();

  const renew = (lease: LeaseRecord, run: Run) => {
    const time = now();
    if (endOf(lease) - time >= (leaseMs(run) * 2) / 3) return;
    const key = `${lease.run}\n${lease.item ?? ''}`;
    // Calls come faster than commits; one write renews for all of them.
    if (underWay.has(key)) return;
    underWay.add(key);
    store
      .renewLease({ ...lease, expiresAt: leaseEnd(run, time) })
      .catch(parts.onError)
      .finally(() => underWay.delete(key));
  };

  async function lookUp(run: Run, agent: string): Promise<void> {
    const held = heldItems(run, agent).map(([key]) => key);
    for (const item of [...(run.holder === agent ? [null] : []), ...held]) {
      const lease = await store.lease(run.id, item);
      if (lease?.agent === agent) renew(lease, run);
    }
  }

  return {
    renew,
    hear(run, agent) {
      if (run.phase === null) return;
      const key = `${run.id}\n${agent}`;
      const time = now();
      const last = lastHeard.get(key);
      if (last !== undefined && Math.abs(time - last) < LOOK_AGAIN_MS) return;
      if (lastHeard.size >= REMEMBERED) lastHeard.clear();
      lastHeard.set(key, time);
      lookUp(run, agent).catch(parts.onError);
    },
  };
}

/** Every call asks for it, and a lease is asked about many times before it is another one. */
function endOf(lease: LeaseRecord): number {
  const known = ends.get(lease);
  if (known !== undefined) return known;
  const end = Date.parse(lease.expiresAt);
  ends.set(lease, end);
  return end;
}

const ends = new WeakMap<LeaseRecord, number>();
const LOOK_AGAIN_MS = 1000;
const REMEMBERED = 1000;
