import { writtenDrafts } from '@phasegate/audit';
import { isStillSo } from '@phasegate/core/engine';
import type { CallStore } from '@phasegate/core/ports';
import { type CallsOfRun, readCalls } from './callRows.ts';
import { coalesced } from './coalesced.ts';
import type { Database } from './database.ts';
import { leaseFor } from './leaseRows.ts';
import type { Writer } from './writer.ts';

/** The tool calls under way. They give nobody a right, so they are not sealed. */
export function callParts(parts: { readonly database: Database; readonly writer: Writer }): CallStore {
  const { database, writer } = parts;
  const ofRun = coalesced(async (runs: readonly string[]) => {
    const found = await readCalls(database.query, runs);
    return (run) => found.get(run) ?? NO_CALLS;
  });
  return {
    async beginCall(call, version, audit, held) {
      const drafts = writtenDrafts(audit);
      return writer.submit({
        needs: { runs: [call.run], leases: leaseFor(call.run, held) },
        act(batch) {
          const before = batch.current(call.run);
          if (before === undefined || before.version !== version) return false;
          if (!isStillSo(before.run, held, (item) => batch.lease(call.run, item))) return false;
          batch.beginCall(call);
          batch.grow(before, drafts);
          return true;
        },
      });
    },
    async endCall({ run, id }, audit) {
      const drafts = writtenDrafts(audit);
      return writer.submit({
        needs: { runs: [run] },
        act(batch) {
          batch.dropCall(run, id);
          const before = batch.current(run);
          if (before !== undefined) batch.grow(before, drafts);
        },
      });
    },
    async calls(run, item) {
      const { under, begun } = await ofRun(run);
      if (item !== null)
        return { under: under.filter((call) => call.item === item), begun: begun.get(item) ?? 0 };
      return { under, begun: [...begun.values()].reduce((sum, count) => sum + count, 0) };
    },
    askToEnd: (run, ids) =>
      writer.submit({
        needs: { runs: [run] },
        act(batch) {
          for (const id of ids) batch.endCall(run, id);
        },
      }),
  };
}

const NO_CALLS: CallsOfRun = { under: [], begun: new Map() };
