import { writtenDrafts } from '@phasegate/audit';
import { isStillSo } from '@phasegate/core/engine';
import type { CallStore, WrittenDraft } from '../../runtime/ports.ts';
import type { CallTable } from './callTable.ts';
import type { GroupCommit } from './groupCommit.ts';
import type { LeaseTable } from './leaseTable.ts';
import type { RunRow, RunTable } from './runTable.ts';

/** The tool calls under way of a store, on their table. Each goes on with the chain of its run. */
export function callParts(parts: {
  readonly commits: GroupCommit;
  readonly asking: <T>(question: () => T) => Promise<T>;
  /** What is kept may be behind another process; to be called before it is relied on. */
  readonly lookAround: () => void;
  readonly runs: Pick<RunTable, 'current'>;
  readonly leases: Pick<LeaseTable, 'current'>;
  readonly calls: CallTable;
  /** Chains records to a run whose state stays as it is. */
  readonly grow: (before: RunRow, drafts: readonly WrittenDraft[]) => void;
}): CallStore {
  const { commits, asking, lookAround, runs, leases, calls, grow } = parts;
  return {
    async beginCall(call, version, audit, held) {
      const drafts = writtenDrafts(audit);
      return commits.submit(() => {
        const before = runs.current(call.run);
        if (before === undefined || before.version !== version) return false;
        if (!isStillSo(before.run, held, (item) => leases.current(call.run, item))) return false;
        calls.begin(call);
        grow(before, drafts);
        return true;
      });
    },
    async endCall({ run, id }, audit) {
      const drafts = writtenDrafts(audit);
      return commits.submit(() => {
        calls.drop(run, id);
        const before = runs.current(run);
        if (before !== undefined) grow(before, drafts);
      });
    },
    calls: (runId, item) =>
      asking(() => {
        lookAround();
        return calls.of(runId, item);
      }),
    askToEnd: (runId, ids) =>
      commits.submit(() => {
        for (const id of ids) calls.askToEnd(runId, id);
      }),
  };
}
