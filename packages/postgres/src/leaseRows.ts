import { leaseMac, nameOfLease, sameMac, tampered } from '@phasegate/audit';
import type { HeldAt } from '@phasegate/core/engine';
import type { LeaseRecord, Seal } from '@phasegate/core/ports';
import type { Query } from './database.ts';
import { integer, isStorable, type Row, text, textOrNull } from './rows.ts';
import type { Found } from './runReader.ts';

/** Which lease. */
export type LeaseAsked = Pick<LeaseRecord, 'run' | 'item'>;

/** The length keeps the two parts apart whatever is in them. */
export function leaseKey(run: string, item: string | null): string {
  return `${run.length}:${run}${item ?? ''}`;
}

/** The lease that must be read to tell whether something is still as it was judged. */
export function leaseFor(run: string, judgedAt: number | HeldAt | undefined): readonly LeaseAsked[] {
  if (typeof judgedAt !== 'object' || judgedAt.jti === undefined) return [];
  return [{ run, item: judgedAt.item }];
}

/** Reads some leases. */
export async function readLeases(
  query: Query,
  seal: Seal,
  asked: readonly LeaseAsked[],
): Promise<ReadonlyMap<string, Found<LeaseRecord>>> {
  const keys = asked.filter(({ run, item }) => isStorable(run) && isStorable(item ?? ''));
  if (keys.length === 0) return new Map();
  const { rows } = await query(SOME, [keys.map(({ run }) => run), keys.map(({ item }) => item ?? '')]);
  return new Map(
    rows.map((row) => {
      const { lease, sealed } = storedLease(seal, row);
      return [leaseKey(lease.run, lease.item), sealed ? lease : tampered(nameOfLease(lease))] as const;
    }),
  );
}

/** A lease from its row, and whether the row is sealed. */
export function storedLease(seal: Seal, row: Row): { readonly lease: LeaseRecord; readonly sealed: boolean } {
  const lease: LeaseRecord = {
    run: text(row, 'run'),
    item: text(row, 'item') || null,
    agent: text(row, 'agent'),
    epoch: integer(row, 'epoch'),
    expiresAt: text(row, 'expires_at'),
    jti: textOrNull(row, 'jti'),
    previousJti: textOrNull(row, 'previous_jti'),
  };
  return { lease, sealed: sameMac(text(row, 'mac'), leaseMac(seal, lease)) };
}

const SOME = `SELECT l.* FROM unnest($1::text[], $2::text[]) AS u(run, item)
  JOIN leases l ON l.run = u.run AND l.item = u.item`;
