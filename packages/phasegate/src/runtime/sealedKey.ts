import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { KeyCarrier } from './ports.ts';

/**
 * Seals bytes by AES-256-GCM under a key that is derived from the secret. Where they are kept, at most a hash of the
 * secret is known, which is made in another way: who reads that place opens nothing.
 */
export function sealFor(bytes: Buffer, by: KeyCarrier): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(by), iv);
  cipher.setAAD(Buffer.from(by.bound));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** What was sealed; null where it was for another secret or another place, or was changed. */
export function openSealed(text: string, by: KeyCarrier): Buffer | null {
  const all = Buffer.from(text, 'base64url');
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(by), all.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(by.bound));
    decipher.setAuthTag(all.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(all.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    // What is too short, of another secret or damaged looks the same, and opens nothing.
    return null;
  }
}

function keyOf({ secret }: KeyCarrier): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', LABEL, 32));
}

const LABEL = "phasegate key of a human's session v1";
const IV_BYTES = 12;
const TAG_BYTES = 16;
