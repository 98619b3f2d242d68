import { createPublicKey, verify } from 'node:crypto';
import { canonicalJson, type Json } from '@phasegate/core';
import type { Receipt, Seal } from './ports.ts';

/** Signs a record of something the engine ran, with the key that signs the audit's head. */
export function makeReceipt(record: Omit<Receipt, 'signature'>, seal: Pick<Seal, 'sign'>): Receipt {
  return { ...record, signature: seal.sign(receiptText(record)) };
}

/**
 * Whether a receipt was signed by the holder of the private key to this public one (Ed25519, SPKI, base64url). Needs
 * nothing else of the project, so that others can verify with a key they pinned. What is not a receipt is not signed.
 */
export function verifyReceipt(receipt: Receipt, publicKey: string): boolean {
  try {
    const { signature, ...record } = receipt;
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), type: 'spki', format: 'der' });
    if (key.asymmetricKeyType !== 'ed25519') return false;
    return verify(null, Buffer.from(receiptText(record)), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

function receiptText(record: Omit<Receipt, 'signature'>): string {
  return canonicalJson(record as unknown as Json);
}
