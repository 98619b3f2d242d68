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
    putLease: (lease) =>
      commits.submit(() => {
        const held = leases.current(lease.run, lease.item);
        if (held?.agent !== lease.agent || held.epoch !== lease.epoch) return false;
        leases.change({ put: lease });
        return true;
      }),
    dropLease: (run, item) => commits.submit(() => leases.change({ drop: { run, item } })),
  };
}
