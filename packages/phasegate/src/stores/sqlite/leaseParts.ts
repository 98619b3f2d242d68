import { heldBy, isSameLease, leaseWithToken, renewedLease, writtenDrafts } from '@phasegate/audit';
import { isStillSo } from '@phasegate/core/engine';
import type { LeaseStore, WrittenDraft } from '../../runtime/ports.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { LeaseTable } from './leaseTable.ts';
import type { RunRow, RunTable } from './runTable.ts';

/** The leases of a store, on their table. */
export function leaseParts(parts: {
  readonly commits: GroupCommit;
  readonly asking: <T>(question: () => T) => Promise<T>;
  /** What is kept may be behind another process; to be called before it is relied on. */
  readonly lookAround: () => void;
  readonly leases: LeaseTable;
  readonly runs: Pick<RunTable, 'current'>;
  /** Chains records to a run whose state stays as it is. */
  readonly grow: (before: RunRow, drafts: readonly WrittenDraft[]) => void;
}): LeaseStore {
  const { commits, asking, lookAround, leases, runs, grow } = parts;
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
    async renewToken(lease, audit) {
      const drafts = writtenDrafts(audit);
      return commits.submit(() => {
        const before = runs.current(lease.run);
        const leaseOf = (item: string | null) => leases.current(lease.run, item);
        if (before === undefined || !isStillSo(before.run, heldBy(lease), leaseOf)) return false;
        leases.change({ put: leaseWithToken(leaseOf(lease.item), lease) });
        grow(before, drafts);
        return true;
      });
    },
    dropLease: (seen) =>
      commits.submit(() => {
        if (!isSameLease(leases.current(seen.run, seen.item), seen)) return false;
        leases.change({ drop: seen });
        return true;
      }),
  };
}
