import type { KeyObject } from 'node:crypto';
import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto';
import { canonicalJson } from '@phasegate/core';
import { hmacOf } from './hmac.ts';
import type { ProjectKeys } from './keys.ts';
import type { AuditDraft, ChainHead, Seal, SealedRecord, SealedRow, WrittenDraft } from './ports.ts';

/** Builds the seal of a project from its keys; the signing keys are parsed only when first used. */
export function createSeal(keys: Pick<ProjectKeys, 'audit' | 'rows'>): Seal {
  const hmac = hmacOf(Buffer.from(keys.rows, 'base64url'));
  let privateKey: KeyObject | undefined;
  let publicKey: KeyObject | undefined;

  return {
    chain: chainDrafts,
    mac(row: SealedRow): string {
      return hmac(frameRow(row));
    },
    fingerprint(runId: string, head: ChainHead): bigint {
      const framed = JSON.stringify(['head', runId, head.seq, head.hash]);
      return BigInt(`0x${hmac(framed)}`);
    },
    sign(text: string): string {
      privateKey ??= createPrivateKey({ key: der(keys.audit.privateKey), type: 'pkcs8', format: 'der' });
      return sign(null, Buffer.from(text), privateKey).toString('base64url');
    },
    verifySignature(text: string, signature: string): boolean {
      publicKey ??= createPublicKey({ key: der(keys.audit.publicKey), type: 'spki', format: 'der' });
      return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
    },
  };
}

function chainDrafts(
  runId: string | null,
  head: ChainHead,
  drafts: readonly (AuditDraft | WrittenDraft)[],
): readonly SealedRecord[] {
  const records: SealedRecord[] = [];
  let { seq, hash: prev } = head;
  for (const draft of drafts) {
    const { time, principal, event, data } = draft;
    seq += 1;
    const dataText = 'dataText' in draft ? draft.dataText : canonicalJson(data);
    const text = canonicalRecord({ seq, run: runId, time, principal, event, prev, dataText });
    const link = hash('sha256', text);
    records.push({ seq, run: runId, time, principal, event, data, prev, hash: link, dataText });
    prev = link;
  }
  return records;
}

/**
 * INVARIANT: equals `canonicalJson` of the record without its hash. Written out in sorted key order because
 * only `data` is of unknown shape, and this runs for every transition and every tool call.
 */
function canonicalRecord(record: Omit<SealedRecord, 'hash' | 'data'>): string {
  return (
    `{"data":${record.dataText},"event":${canonicalJson(record.event)},"prev":${canonicalJson(record.prev)}` +
    `,"principal":${canonicalJson(record.principal)},"run":${canonicalJson(record.run)}` +
    `,"seq":${record.seq},"time":${canonicalJson(record.time)}}`
  );
}

/** The JSON line holds no raw newline, so no other split of the same bytes into fields exists. */
function frameRow({ runId, version, seq, hash: head, state }: SealedRow): string {
  return `${JSON.stringify(['row', runId, version, seq, head])}\n${state}`;
}

function der(encoded: string): Buffer {
  return Buffer.from(encoded, 'base64url');
}
