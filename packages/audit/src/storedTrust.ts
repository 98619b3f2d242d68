import { type AuditRecord, type JsonObject, own } from '@phasegate/core';
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

/** The seal of a stored acceptance. */
export function trustMac(seal: Seal, data: string): string {
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
