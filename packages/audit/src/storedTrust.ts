import { type AuditRecord, type JsonObject, own, PhasegateError } from '@phasegate/core';
import type { Seal, TrustRecord } from '@phasegate/core/ports';
import type { StoredTrust } from './auditSource.ts';
import { recordMac, sameMac } from './sealedRecord.ts';

/** What the project's chain says of one acceptance. */
export interface NotedTrust {
  readonly seq: number;
  readonly workflow: string;
  readonly hash: string;
  readonly signature: string;
}

/** The acceptance that a record of the project's chain tells of, or null. */
export function notedTrust({
  event,
  data,
  seq,
}: Pick<AuditRecord, 'event' | 'data' | 'seq'>): NotedTrust | null {
  if (event !== 'workflow_trusted') return null;
  const accepted = own(data, 'hash') ?? own(data, 'closure');
  const [workflow, signature] = [own(data, 'workflow'), own(data, 'signature')];
  return { seq, workflow: String(workflow), hash: String(accepted), signature: String(signature) };
}

/** What the chain says of an acceptance, for `notedTrust`. */
export function trustFacts({ workflow, hash: accepted, signature }: TrustRecord): JsonObject {
  return { workflow, hash: accepted, signature };
}

/**
 * The text of an acceptance that is to be stored. Throws `request_invalid` where it holds half of a character: the column it
 * is found by would not be what was sealed, and one row like that keeps every question about acceptances from being answered.
 */
export function trustTextOf(trust: TrustRecord): string {
  const { hash, workflow, by, at, signature, files } = trust;
  const texts = [hash, workflow, by, at, signature, ...Object.entries(files).flat()];
  if (!texts.every((text) => text.isWellFormed())) {
    throw new PhasegateError(
      'request_invalid',
      'what is to be accepted has a name that is not valid Unicode',
      {
        hint: 'rename the file, or correct the name in it',
      },
    );
  }
  return JSON.stringify(trust);
}

/** An acceptance as it is stored. Throws as `trustTextOf` does. */
export function sealedTrust(seal: Seal, trust: TrustRecord): { readonly data: string; readonly mac: string } {
  const data = trustTextOf(trust);
  return { data, mac: trustMac(seal, data) };
}

function trustMac(seal: Seal, data: string): string {
  return recordMac(seal, 'trust', [data]);
}

/**
 * An acceptance from the columns of its row. INVARIANT: those it is found by are the ones that were sealed with it; its
 * place among the others is held against the project's chain, which no row's seal could do.
 */
export function storedTrust(
  seal: Seal,
  row: { readonly hash: string; readonly workflow: string; readonly data: string; readonly mac: string },
): StoredTrust {
  const trust = { workflow: row.workflow, hash: row.hash };
  if (!sameMac(row.mac, trustMac(seal, row.data))) return { trust, record: null };
  const record = JSON.parse(row.data) as TrustRecord;
  const isFoundRight = record.hash === row.hash && record.workflow === row.workflow;
  return { trust, record: isFoundRight ? record : null };
}
