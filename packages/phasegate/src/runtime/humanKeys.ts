import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  scrypt,
  sign,
  verify,
} from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import { LEAST_PASSPHRASE } from '@phasegate/core/contract';
import type { HumanRecord, KeyCarrier, WrappedKey } from './ports.ts';
import { openSealed, sealFor } from './sealedKey.ts';

/** A human's key pair: the public half in the open, the private half wrapped by the passphrase. */
export type HumanKey = Pick<HumanRecord, 'publicKey' | 'wrappedKey'>;

/** What an unlocked key can do: sign, in this process only. */
export interface HumanSigner {
  /** Ed25519 signature over the text, base64url. */
  sign(text: string): string;
  /** The key itself, sealed for whom has that secret. */
  sealedKey(by: KeyCarrier): string;
}

/** How a passphrase becomes the key that a human's private half is wrapped with. */
export interface KeyDerivation {
  /** What makes two keys of one passphrase differ; kept beside the wrapped key. */
  salt(): Uint8Array;
  derive(passphrase: string, salt: Uint8Array): Promise<Uint8Array>;
}

/** A salt of its own for every key, and nothing remembered. */
export const FRESH_KEYS: KeyDerivation = { salt: () => randomBytes(16), derive: deriveKey };

/**
 * One salt, and every passphrase derived once, at the usual cost. INVARIANT: only for humans who are not real, in tests
 * of workflows and of this repository: what opens a key stays in memory, and equal passphrases can be seen to be equal.
 */
export function rememberingKeys(): KeyDerivation {
  const salt = randomBytes(16);
  const known = new Map<string, Promise<Uint8Array>>();
  return {
    salt: () => salt,
    derive: (passphrase, of) => {
      const name = JSON.stringify([passphrase, Buffer.from(of).toString('base64url')]);
      const key = known.get(name) ?? deriveKey(passphrase, of);
      known.set(name, key);
      return key;
    },
  };
}

/** Makes a key pair whose private half only this passphrase opens. */
export async function createHumanKey(passphrase: string, by = FRESH_KEYS): Promise<HumanKey> {
  const pair = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
  return wrap(pair, passphrase, by);
}

/** The same key under another passphrase, or null when the old one is wrong. */
export async function rewrapHumanKey(
  record: HumanKey,
  { old, passphrase }: { readonly old: string; readonly passphrase: string },
  by = FRESH_KEYS,
): Promise<HumanKey | null> {
  const privateKey = await openHumanKey(record, old, by);
  return privateKey === null
    ? null
    : wrap({ publicKey: bytes(record.publicKey), privateKey }, passphrase, by);
}

/** Opens a human's key, or null when the passphrase is wrong. */
export async function unlockHumanKey(
  record: HumanKey,
  passphrase: string,
  by = FRESH_KEYS,
): Promise<HumanSigner | null> {
  const opened = await openHumanKey(record, passphrase, by);
  return opened === null ? null : signerWith(opened);
}

/** Opens a key that was sealed for a session, or null where the secret is not the one it was sealed for. */
export function unsealHumanKey(sealed: string, by: KeyCarrier): HumanSigner | null {
  const opened = openSealed(sealed, by);
  return opened === null ? null : signerWith(opened);
}

function signerWith(opened: Buffer): HumanSigner {
  const privateKey = createPrivateKey({ key: opened, type: 'pkcs8', format: 'der' });
  return {
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
    sealedKey: (by) => sealFor(privateKey.export({ type: 'pkcs8', format: 'der' }), by),
  };
}

/** Whether a signature over the text was made with the private half of this key. Malformed input is a no. */
export function verifyHumanSignature(publicKey: string, text: string, signature: string): boolean {
  try {
    const key = createPublicKey({ key: bytes(publicKey), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' && verify(null, Buffer.from(text), key, bytes(signature));
  } catch {
    return false;
  }
}

async function wrap(
  pair: { readonly publicKey: Buffer; readonly privateKey: Buffer },
  passphrase: string,
  by: KeyDerivation,
): Promise<HumanKey> {
  if ([...passphrase].length < LEAST_PASSPHRASE) {
    throw new PhasegateError(
      'usage',
      `the passphrase is too short: at least ${LEAST_PASSPHRASE} characters`,
      {
        hint: 'run the command again with a longer one',
      },
    );
  }
  const salt = by.salt();
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', await by.derive(passphrase, salt), iv);
  // Bound to the public half, so that a wrapped key cannot be moved to another human's record.
  cipher.setAAD(pair.publicKey);
  const ciphertext = Buffer.concat([cipher.update(pair.privateKey), cipher.final()]);
  return {
    publicKey: pair.publicKey.toString('base64url'),
    wrappedKey: {
      kdf: 'scrypt',
      ...SCRYPT,
      salt: Buffer.from(salt).toString('base64url'),
      iv: iv.toString('base64url'),
      tag: cipher.getAuthTag().toString('base64url'),
      ciphertext: ciphertext.toString('base64url'),
    },
  };
}

async function openHumanKey(record: HumanKey, passphrase: string, by: KeyDerivation): Promise<Buffer | null> {
  const { wrappedKey } = record;
  // The costs are ours to choose: ones from a doctored record could be cheap to guess or never end.
  if (!sameCosts(wrappedKey)) {
    throw new PhasegateError('state_tampered', 'a stored human key does not have the costs it is made with');
  }
  return decrypt(record, await by.derive(passphrase, bytes(wrappedKey.salt)));
}

const SCRYPT = { n: 2 ** 15, r: 8, p: 1 } as const;

function deriveKey(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  const { n: N, r, p } = SCRYPT;
  return new Promise((resolve, reject) => {
    // The same words typed on another keyboard may arrive in another Unicode form.
    scrypt(passphrase.normalize('NFKC'), salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

function decrypt({ publicKey, wrappedKey }: HumanKey, key: Uint8Array): Buffer | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes(wrappedKey.iv), { authTagLength: 16 });
    decipher.setAAD(bytes(publicKey));
    decipher.setAuthTag(bytes(wrappedKey.tag));
    return Buffer.concat([decipher.update(bytes(wrappedKey.ciphertext)), decipher.final()]);
  } catch {
    // A wrong passphrase and a damaged record look the same to GCM, and both must open nothing.
    return null;
  }
}

function sameCosts({ kdf, n, r, p }: WrappedKey): boolean {
  return kdf === 'scrypt' && n === SCRYPT.n && r === SCRYPT.r && p === SCRYPT.p;
}

function bytes(encoded: string): Buffer {
  return Buffer.from(encoded, 'base64url');
}
