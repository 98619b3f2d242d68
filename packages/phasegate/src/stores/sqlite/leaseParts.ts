import { isSameLease, renewedLease } from '@phasegate/audit';
import type { LeaseStore } from '../../runtime/ports.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { LeaseTable } from './leaseTable.ts';

/** The leases of a store, on their table. */
export function leaseParts(parts: {
  readonly commits: GroupCommit;
  readonly asking: <T>(question: () => T) => Promise<T>;
  /** What is kept may be behind another process; to be called before it is relied on. */
  readonly lookAround: () => void;
  readonly leases: LeaseTable;
}): LeaseStore {
  const { commits, asking, lookAround, leases } = parts;
  return {
    lease: (runId, item) =>
      asking(() => {
        lookAround();
        return leases.current(runId, item);
      }),
    leases: (agent) => asking(() => leases.all(agent)),
    someLeases: (limit) => asking(() => leases.some(limit)),
    countLeases: () => asking(() => leases.count()),
    leasesEnded: (now) => asking(() => leases.ended(now)),
    renewLease: (lease) =>
      commits.submit(() => {
        const renewed = renewedLease(leases.current(lease.run, lease.item), lease);
        if (renewed === null) return false;
        leases.change({ put: renewed });
        return true;
      }),
    dropLease: (seen) =>
      commits.submit(() => {
        if (!isSameLease(leases.current(seen.run, seen.item), seen)) return false;
        leases.change({ drop: seen });
        return true;
      }),
  };
}
