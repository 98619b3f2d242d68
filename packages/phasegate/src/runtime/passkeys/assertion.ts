import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { type Json, own } from '@phasegate/core';
import { assertedText } from '@phasegate/core/contract';
import type { Assertion, Passkey } from '../ports.ts';

/** What a passkey is challenged with to sign a text: base64url, as clients' data holds it. */
export function challengeFor(text: string, nonce: string): string {
  return hash('sha256', assertedText(text, nonce), 'base64url');
}

/** An assertion as the signature it is: with it, whatever carries the signature can be verified by itself. */
export function writeAssertion(assertion: Assertion): string {
  return [KIND, ...PARTS.map((part) => assertion[part])].join('.');
}

/** The assertion that a signature is; null where it is something else. No Ed25519 signature in base64url has a dot. */
export function readAssertion(signature: string): Assertion | null {
  const [kind, ...parts] = signature.length > LONGEST ? [] : signature.split('.');
  if (kind !== KIND || parts.length !== PARTS.length || !parts.every((part) => BASE64URL.test(part))) {
    return null;
  }
  return Object.fromEntries(PARTS.map((name, at) => [name, parts[at]])) as unknown as Assertion;
}

/**
 * Why an assertion does not sign a text with a passkey, or null where it does. It is about one page, by its origin with
 * the port: to a browser, what an agent serves on another port of this machine may use the same passkeys.
 */
export function assertionFault(
  passkey: Pick<Passkey, 'id' | 'publicKey' | 'origin'>,
  text: string,
  assertion: Assertion,
): string | null {
  try {
    if (assertion.id !== passkey.id) return 'it is of another passkey';
    return (
      clientFault(bytes(assertion.clientDataJson), {
        challenge: challengeFor(text, assertion.nonce),
        origin: passkey.origin,
      }) ??
      authenticatorFault(bytes(assertion.authenticatorData), passkey.origin) ??
      (isSigned(passkey, assertion) ? null : 'its signature is not that of the passkey')
    );
  } catch {
    // What cannot be read is signed by nobody.
    return 'it cannot be read';
  }
}

/** The authenticator's own count; 0 where it does not count. */
export function counterOf({ authenticatorData }: Pick<Assertion, 'authenticatorData'>): number {
  return bytes(authenticatorData).readUInt32BE(COUNTER_AT);
}

/** A public key that passkeys may have: P-256, Ed25519, or RSA that is long enough. */
export function passkeyKey(publicKey: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: bytes(publicKey), type: 'spki', format: 'der' });
    const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = key;
    if (kind === 'ec') return details?.namedCurve === 'prime256v1' ? key : null;
    if (kind === 'rsa') return (details?.modulusLength ?? 0) >= LEAST_MODULUS ? key : null;
    return kind === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

const KIND = 'passkey';
const PARTS = ['id', 'nonce', 'authenticatorData', 'clientDataJson', 'signature'] as const;
const BASE64URL = /^[\w-]+$/;
/** Those of real authenticators have about a thousand characters. */
const LONGEST = 16 * 1024;
const LEAST_MODULUS = 2048;

const FLAGS_AT = 32;
const COUNTER_AT = 33;
const SHORTEST = 37;
const PRESENT = 0x01;
const VERIFIED = 0x04;

function clientFault(
  data: Buffer,
  expected: { readonly challenge: string; readonly origin: string },
): string | null {
  const said = JSON.parse(data.toString('utf8')) as Json;
  if (own(said, 'type') !== 'webauthn.get') return 'it is not an assertion';
  const origin = own(said, 'origin');
  if (origin !== expected.origin) return `it was made on a page of \`${String(origin).slice(0, 100)}\``;
  // A page of ours in a frame of another's: what is clicked there is not what is seen.
  if (own(said, 'crossOrigin') === true || own(said, 'topOrigin') !== undefined)
    return 'it was made in a frame';
  return own(said, 'challenge') === expected.challenge ? null : 'it is for another act';
}

function authenticatorFault(data: Buffer, origin: string): string | null {
  if (data.length < SHORTEST) return 'it is cut short';
  const rp = hash('sha256', new URL(origin).hostname, 'buffer');
  if (!data.subarray(0, FLAGS_AT).equals(rp)) return 'it is for another site';
  const flags = data.readUInt8(FLAGS_AT);
  if ((flags & PRESENT) === 0) return 'nobody was present';
  return (flags & VERIFIED) === 0 ? 'the authenticator did not verify who used it' : null;
}

function isSigned({ publicKey }: Pick<Passkey, 'publicKey'>, assertion: Assertion): boolean {
  const key = passkeyKey(publicKey);
  if (key === null) return false;
  const client = hash('sha256', bytes(assertion.clientDataJson), 'buffer');
  const signed = Buffer.concat([bytes(assertion.authenticatorData), client]);
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return verify(digest, signed, key, bytes(assertion.signature));
}

function bytes(encoded: string): Buffer {
  return Buffer.from(encoded, 'base64url');
}
