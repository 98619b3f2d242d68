import {
  heldBy,
  isSameLease,
  leaseWithToken,
  nameOfLease,
  renewedLease,
  tampered,
  writtenDrafts,
} from '@phasegate/audit';
import { isStillSo } from '@phasegate/core/engine';
import type { LeaseRecord, LeaseStore, Seal } from '@phasegate/core/ports';
import { coalesced } from './coalesced.ts';
import type { Database } from './database.ts';
import { type LeaseAsked, leaseKey, readLeases, storedLease } from './leaseRows.ts';
import { integer, type Row, text } from './rows.ts';
import { sound } from './runReader.ts';
import type { Writer } from './writer.ts';

/** The leases of a store. */
export function leaseParts(parts: {
  readonly database: Database;
  readonly writer: Writer;
  readonly seal: Seal;
}): LeaseStore {
  const { database, writer, seal } = parts;
  const all = async (sql: string, values: readonly unknown[] = []) =>
    (await database.query(sql, values)).rows.map((row) => requireSealed(seal, row));
  // Every tool call asks for one.
  const one = coalesced(async (keys: readonly LeaseAsked[]) => {
    const found = await readLeases(database.query, seal, keys);
    return (key) => found.get(leaseKey(key.run, key.item));
  });
  return {
    lease: async (run, item) => sound(await one({ run, item })),
    leases: (agent) =>
      agent === undefined ? all(`${ALL} ${ORDER}`) : all(`${ALL} WHERE agent = $1 ${ORDER}`, [agent]),
    someLeases: (limit) => all(`${ALL} ${ORDER} LIMIT $1`, [limit]),
    async countLeases() {
      const { rows } = await database.query('SELECT count(*) AS leases FROM leases');
      return integer(rows[0] ?? {}, 'leases');
    },
    async leasesEnded(now) {
      const { rows } = await database.query(ENDED, [now]);
      return rows.map((row) => ({ run: text(row, 'run'), item: text(row, 'item') || null }));
    },
    renewLease: (lease) =>
      writer.submit({
        needs: { runs: [lease.run], leases: [lease] },
        act(batch) {
          const renewed = renewedLease(batch.lease(lease.run, lease.item), lease);
          if (renewed === null) return false;
          batch.changeLease({ put: renewed });
          return true;
        },
      }),
    async renewToken(lease, audit) {
      const drafts = writtenDrafts(audit);
      return writer.submit({
        needs: { runs: [lease.run], leases: [lease] },
        act(batch) {
          const before = batch.current(lease.run);
          const leaseOf = (item: string | null) => batch.lease(lease.run, item);
          if (before === undefined || !isStillSo(before.run, heldBy(lease), leaseOf)) return false;
          batch.changeLease({ put: leaseWithToken(leaseOf(lease.item), lease) });
          batch.grow(before, drafts);
          return true;
        },
      });
    },
    dropLease: (seen) =>
      writer.submit({
        needs: { runs: [seen.run], leases: [seen] },
        act(batch) {
          if (!isSameLease(batch.lease(seen.run, seen.item), seen)) return false;
          batch.changeLease({ drop: seen });
          return true;
        },
      }),
  };
}

const ALL = 'SELECT * FROM leases';
const ORDER = 'ORDER BY run, item';
/** Without the rows: anyone who reads one of them sees whether it is sealed. */
const ENDED = 'SELECT run, item FROM leases WHERE expires_at <= $1 ORDER BY expires_at, run, item';

function requireSealed(seal: Seal, row: Row): LeaseRecord {
  const { lease, sealed } = storedLease(seal, row);
  if (!sealed) throw tampered(nameOfLease(lease));
  return lease;
}
