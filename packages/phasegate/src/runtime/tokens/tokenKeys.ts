import { hash } from 'node:crypto';
import { PhasegateError } from '@phasegate/core';
import { type Hmac, hmacOf } from '../hmac.ts';
import type { TokenSecret, TokenSecrets } from '../keys.ts';

/** The variables that replace the project's own token secrets. */
export interface TokenEnvironment {
  readonly ORCHESTRATOR_JWT_SECRET?: string | undefined;
  /** The secret before the last rotation: still verifies, signs nothing. */
  readonly ORCHESTRATOR_JWT_SECRET_PREVIOUS?: string | undefined;
}

/** What a keyring is made of. */
export interface KeyringOptions {
  /** A function is asked again every second and for a key that is not known: another process may have rotated. */
  readonly secrets: TokenSecrets | (() => TokenSecrets);
  readonly environment?: TokenEnvironment;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** One key with the name tokens know it by. */
export interface TokenKey {
  readonly kid: string;
  readonly bytes: Uint8Array;
  /** Its signature of a text, prepared once: a token is signed with every transition. */
  readonly sign: Hmac;
  /** The protected header of what it signs, encoded. */
  readonly header: string;
}

/** The key that signs, and the one before it. */
export interface TokenKeys {
  readonly current: TokenKey;
  readonly previous: TokenKey | null;
}

/** The one algorithm of phase tokens. */
export const ALGORITHM = 'HS256';

/** The keys as they are now. With `now` they are looked at afresh, else at most once a second. */
export function keyring(options: KeyringOptions, changed: () => void): (when?: 'now') => TokenKeys {
  const { secrets, now } = options;
  const environment = options.environment ?? {};
  const fixed = fromEnvironment(environment) ?? (typeof secrets === 'function' ? null : keysOf(secrets));
  if (fixed !== null) return () => fixed;
  const read = secrets as () => TokenSecrets;
  let seen: TokenSecrets | undefined;
  let keys: TokenKeys | undefined;
  let looked = Number.NEGATIVE_INFINITY;
  return (when) => {
    const time = now();
    if (keys !== undefined && when === undefined && Math.abs(time - looked) < LOOK_AGAIN_MS) return keys;
    // Only what could be read counts as looked at: until then every call looks again, and is refused.
    looked = Number.NEGATIVE_INFINITY;
    const fresh = read();
    looked = time;
    if (keys !== undefined && fresh === seen) return keys;
    seen = fresh;
    keys = keysOf(fresh);
    changed();
    return keys;
  };
}

function keysOf({ current, previous }: TokenSecrets): TokenKeys {
  return { current: stored(current), previous: previous && stored(previous) };
}

function fromEnvironment(environment: TokenEnvironment): TokenKeys | null {
  const { ORCHESTRATOR_JWT_SECRET: secret, ORCHESTRATOR_JWT_SECRET_PREVIOUS: before } = environment;
  if (secret === undefined) return null;
  return {
    current: given('ORCHESTRATOR_JWT_SECRET', secret),
    previous: before === undefined ? null : given('ORCHESTRATOR_JWT_SECRET_PREVIOUS', before),
  };
}

function stored({ kid, secret }: TokenSecret): TokenKey {
  return keyNamed(kid, Buffer.from(secret, 'base64url'));
}

function given(name: string, secret: string): TokenKey {
  const bytes = Buffer.from(secret);
  if (bytes.length < LEAST_SECRET) {
    throw new PhasegateError('usage', `\`${name}\` is too short: at least ${LEAST_SECRET} bytes`);
  }
  // The name must be the same in every process that is given this secret, so it is taken from it.
  return keyNamed(`env-${hash('sha256', `phasegate token key\n${secret}`).slice(0, 16)}`, bytes);
}

function keyNamed(kid: string, bytes: Uint8Array): TokenKey {
  const header = encodePart({ alg: ALGORITHM, typ: 'JWT', kid });
  return { kid, bytes, sign: hmacOf(bytes, 'base64url'), header };
}

/** One part of a token: JSON as base64url. */
export function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const LEAST_SECRET = 32;
/** How long a rotation by another process may go unnoticed; the secret before it verifies meanwhile. */
const LOOK_AGAIN_MS = 1000;
