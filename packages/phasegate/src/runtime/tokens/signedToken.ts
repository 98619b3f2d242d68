import { timingSafeEqual } from 'node:crypto';
import { isJsonObject, own, PhasegateError, type PhaseId } from '@phasegate/core';
import type { TokenFault } from './tokenFaults.ts';
import { ALGORITHM, encodePart, type TokenKey, type TokenKeys } from './tokenKeys.ts';

/** What a phase token says. `allowed_tools` informs; the run decides. */
export interface PhaseClaims {
  readonly task_id: string;
  readonly phase: PhaseId;
  readonly allowed_tools: readonly string[];
  readonly agent_id: string;
  readonly epoch: number;
  readonly item?: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

/** A token that holds, or why not; the claims beside a fault are there only if the signature is ours. */
export type CheckedToken =
  | { readonly ok: true; readonly claims: PhaseClaims }
  | { readonly ok: false; readonly fault: TokenFault; readonly claims: PhaseClaims | null };

/** Signs the claims. Throws `too_large` for what could not be verified again. */
export function signToken(claims: PhaseClaims, key: TokenKey): string {
  const text = `${key.header}.${encodePart({ ...claims, iss: NAME, aud: NAME })}`;
  const token = `${text}.${key.sign(text)}`;
  if (token.length <= LARGEST) return token;
  // The list of tools informs and the run decides, so it is what can be done without.
  if (claims.allowed_tools.length > 0) return signToken({ ...claims, allowed_tools: [] }, key);
  throw new PhasegateError('too_large', 'the phase token would be larger than 8 KB');
}

/**
 * The claims of a token that is to the letter what `signToken` writes under the key, found at once; null for any other,
 * which may still be good: that and what is wrong with it is for `readToken` to say.
 */
export function readOwn(token: string, { header, sign }: TokenKey, now: number): PhaseClaims | null {
  const end = token.lastIndexOf('.');
  if (token.length > LARGEST || !token.startsWith(`${header}.`) || end <= header.length) return null;
  if (!isSame(sign(token.slice(0, end)), token.slice(end + 1))) return null;
  const part = token.slice(header.length + 1, end);
  if (!isCanonical(part)) return null;
  // Others may have a secret that was given in the environment, and sign with it what they like.
  const payload = parsed(Buffer.from(part, 'base64url').toString());
  const claims = claimsOf(payload);
  if (claims === null || own(payload, 'iss') !== NAME || own(payload, 'aud') !== NAME) return null;
  const isBare = Object.keys(payload as object).length === Object.keys(claims).length + 2;
  return isBare && claims.iat <= now / 1000 + SKEW_SECONDS ? claims : null;
}

/** Verifies a token that was not seen before. */
export async function readToken(token: string, keys: TokenKeys, now: number): Promise<CheckedToken> {
  if (token.length > LARGEST) return faulty('too_large');
  // Decoders let other letters pass for the right ones; one token should have one spelling.
  if (!SPELLING.test(token) || !token.split('.').every(isCanonical)) return faulty('malformed');
  const { compactVerify, decodeProtectedHeader, errors, jwtVerify } = await import('jose');
  const key = keyFor(token, decodeProtectedHeader, keys);
  if (typeof key === 'string') return faulty(key);
  try {
    const { payload } = await jwtVerify(token, key.bytes, {
      algorithms: [ALGORITHM],
      issuer: NAME,
      audience: NAME,
      currentDate: new Date(now),
    });
    const claims = claimsOf(payload);
    if (claims === null) return faulty('claims');
    if (claims.iat > now / 1000 + SKEW_SECONDS) return faulty('not_yet_valid', claims);
    return { ok: true, claims };
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return faulty('signature');
    if (!(error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)) {
      return faulty('malformed');
    }
    // The library looks at the claims only after the signature: they are ours, so it is known whose token it was.
    const { payload } = await compactVerify(token, key.bytes, { algorithms: [ALGORITHM] });
    const claims = claimsOf(JSON.parse(Buffer.from(payload).toString()));
    return faulty(error instanceof errors.JWTExpired ? 'expired' : faultOfClaim(error.claim), claims);
  }
}

/** By their bytes in UTF-8, as no two texts share these. */
function isSame(signature: string, shown: string): boolean {
  const [one, other] = [Buffer.from(signature), Buffer.from(shown)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The last letter of base64url has bits to spare, which a decoder drops. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}

function faulty(fault: TokenFault, claims: PhaseClaims | null = null): CheckedToken {
  return { ok: false, fault, claims };
}

function keyFor(token: string, decode: (token: string) => object, keys: TokenKeys): TokenKey | TokenFault {
  let header: object;
  try {
    header = decode(token);
  } catch {
    return 'malformed';
  }
  if (own(header, 'alg') !== ALGORITHM) return 'algorithm';
  const kid = own(header, 'kid');
  if (kid === keys.current.kid) return keys.current;
  return keys.previous !== null && kid === keys.previous.kid ? keys.previous : 'unknown_key';
}

function faultOfClaim(claim: string): TokenFault {
  if (claim === 'aud') return 'audience';
  if (claim === 'iss') return 'issuer';
  return claim === 'nbf' ? 'not_yet_valid' : 'claims';
}

function claimsOf(payload: unknown): PhaseClaims | null {
  if (!isJsonObject(payload) || !hasShape(payload)) return null;
  const { task_id, phase, allowed_tools, agent_id, epoch, item, jti, iat, exp } = payload;
  const claims = { task_id, phase, allowed_tools, agent_id, epoch, jti, iat, exp };
  return item === undefined ? claims : { ...claims, item };
}

function hasShape(payload: object): payload is PhaseClaims {
  const item = own(payload, 'item');
  const phase = own(payload, 'phase');
  const tools = own(payload, 'allowed_tools');
  return (
    ['task_id', 'agent_id', 'jti'].every((name) => {
      const value = own(payload, name);
      return typeof value === 'string' && value !== '';
    }) &&
    ['epoch', 'iat', 'exp'].every((name) => Number.isSafeInteger(own(payload, name))) &&
    (typeof phase === 'string' || Number.isSafeInteger(phase)) &&
    Array.isArray(tools) &&
    tools.every((tool) => typeof tool === 'string') &&
    (item === undefined || typeof item === 'string')
  );
}

const NAME = 'phasegate';
const LARGEST = 8 * 1024;
const SPELLING = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Clocks of two machines may differ a little; a token from further ahead is refused. */
const SKEW_SECONDS = 60;
