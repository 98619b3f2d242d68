import { hash, randomUUID } from 'node:crypto';
import { isJsonObject, own, PhasegateError, type PhaseId } from '@phasegate/core';
import type { TokenSecret, TokenSecrets } from './keys.ts';

/** Issues and verifies phase tokens. */
export interface Tokens {
  issue(request: TokenRequest): Promise<IssuedToken>;
  /** The claims of a valid token that serves what is expected. Throws `token_invalid` with one of `TOKEN_FAULTS`. */
  verify(token: string, expected?: ExpectedToken): Promise<PhaseClaims>;
}

/** What a token is issued for. */
export interface TokenRequest {
  readonly task_id: string;
  readonly phase: PhaseId;
  readonly allowed_tools: readonly string[];
  readonly agent_id: string;
  readonly epoch: number;
  readonly expirySeconds: number;
  /** Key of the item, in a parallel phase. */
  readonly item?: string;
}

/** A signed token; the run remembers its `jti`. */
export interface IssuedToken {
  readonly token: string;
  readonly jti: string;
  /** ISO time. */
  readonly expiresAt: string;
}

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

/** What a token must be for; a member left out is not asked about. */
export type ExpectedToken = Partial<Pick<PhaseClaims, 'task_id' | 'phase' | 'agent_id' | 'epoch'>>;

/** Why a token is refused, with the message of each reason. */
export const TOKEN_FAULTS = {
  too_large: 'the phase token is larger than 8 KB',
  malformed: 'the phase token is not a JSON web token',
  algorithm: 'the phase token is not signed with HS256',
  unknown_key: 'the phase token was signed with a key that is not in use',
  signature: 'the signature of the phase token is wrong',
  expired: 'the phase token has expired',
  not_yet_valid: 'the phase token is not valid yet',
  audience: 'the phase token is for another audience',
  issuer: 'the phase token is from another issuer',
  claims: 'the phase token does not have the claims of a phase token',
  other_run: 'the phase token is for another run',
  other_phase: 'the phase token is for another phase',
  other_agent: 'the phase token is for another agent',
  dead_epoch: 'the phase token is of an earlier epoch of the run',
} as const;

/** A reason to refuse a token. */
export type TokenFault = keyof typeof TOKEN_FAULTS;

/** The variables that replace the project's own token secrets. */
export interface TokenEnvironment {
  readonly ORCHESTRATOR_JWT_SECRET?: string | undefined;
  /** The secret before the last rotation: still verifies, signs nothing. */
  readonly ORCHESTRATOR_JWT_SECRET_PREVIOUS?: string | undefined;
}

/** Builds the token office from the project's secrets, or from the environment's where it has one. */
export function createTokens(options: {
  readonly secrets: TokenSecrets;
  readonly environment?: TokenEnvironment;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}): Tokens {
  const keys = keysOf(options.secrets, options.environment ?? {});
  const verified = new Map<string, PhaseClaims>();

  return {
    async issue(request) {
      const { SignJWT } = await import('jose');
      const issuedAt = Math.floor(options.now() / 1000);
      const expires = issuedAt + request.expirySeconds;
      const jti = randomUUID();
      const { expirySeconds: _, ...claims } = request;
      const token = await new SignJWT({ ...claims, iss: NAME, aud: NAME, jti, iat: issuedAt, exp: expires })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: keys.current.kid })
        .sign(keys.current.bytes);
      return { token, jti, expiresAt: new Date(expires * 1000).toISOString() };
    },

    async verify(token, expected = {}) {
      const known = verified.get(token);
      const claims = known ?? (await verifySigned(token, keys, options.now()));
      if (known === undefined) remember(verified, token, claims);
      else if (claims.exp <= Math.floor(options.now() / 1000)) throw refused('expired');
      const fault = faultOfPurpose(claims, expected);
      if (fault !== null) throw refused(fault);
      return claims;
    },
  };
}

const NAME = 'phasegate';
const ALGORITHM = 'HS256';
const LARGEST = 8 * 1024;
const LEAST_SECRET = 32;
const SPELLING = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const REMEMBERED = 1000;
/** Clocks of two machines may differ a little; a token from further ahead is refused. */
const SKEW_SECONDS = 60;

interface Key {
  readonly kid: string;
  readonly bytes: Uint8Array;
}

interface Keys {
  readonly current: Key;
  readonly previous: Key | null;
}

function keysOf(secrets: TokenSecrets, environment: TokenEnvironment): Keys {
  const { ORCHESTRATOR_JWT_SECRET: secret, ORCHESTRATOR_JWT_SECRET_PREVIOUS: before } = environment;
  if (secret === undefined) {
    return { current: stored(secrets.current), previous: secrets.previous && stored(secrets.previous) };
  }
  return {
    current: given('ORCHESTRATOR_JWT_SECRET', secret),
    previous: before === undefined ? null : given('ORCHESTRATOR_JWT_SECRET_PREVIOUS', before),
  };
}

function stored({ kid, secret }: TokenSecret): Key {
  return { kid, bytes: Buffer.from(secret, 'base64url') };
}

function given(name: string, secret: string): Key {
  const bytes = Buffer.from(secret);
  if (bytes.length < LEAST_SECRET) {
    throw new PhasegateError('usage', `\`${name}\` is too short: at least ${LEAST_SECRET} bytes`);
  }
  // The name must be the same in every process that is given this secret, so it is taken from it.
  return { kid: `env-${hash('sha256', `phasegate token key\n${secret}`).slice(0, 16)}`, bytes };
}

async function verifySigned(token: string, keys: Keys, now: number): Promise<PhaseClaims> {
  if (token.length > LARGEST) throw refused('too_large');
  // Decoders let other letters pass for the right ones; one token should have one spelling.
  if (!SPELLING.test(token)) throw refused('malformed');
  const { decodeProtectedHeader, errors, jwtVerify } = await import('jose');
  const key = keyFor(headerOf(token, decodeProtectedHeader), keys);
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: NAME,
      audience: NAME,
      currentDate: new Date(now),
    });
    const claims = claimsOf(payload);
    if (claims.iat > now / 1000 + SKEW_SECONDS) throw refused('not_yet_valid');
    return claims;
  } catch (error) {
    if (error instanceof PhasegateError) throw error;
    if (error instanceof errors.JWTExpired) throw refused('expired', error);
    if (error instanceof errors.JWSSignatureVerificationFailed) throw refused('signature', error);
    if (error instanceof errors.JWTClaimValidationFailed) throw refused(faultOfClaim(error.claim), error);
    throw refused('malformed', error);
  }
}

function headerOf(token: string, decode: (token: string) => object): object {
  try {
    return decode(token);
  } catch (error) {
    throw refused('malformed', error);
  }
}

function keyFor(header: object, keys: Keys): Uint8Array {
  if (own(header, 'alg') !== ALGORITHM) throw refused('algorithm');
  const kid = own(header, 'kid');
  if (kid === keys.current.kid) return keys.current.bytes;
  if (keys.previous !== null && kid === keys.previous.kid) return keys.previous.bytes;
  throw refused('unknown_key');
}

function faultOfClaim(claim: string): TokenFault {
  if (claim === 'aud') return 'audience';
  if (claim === 'iss') return 'issuer';
  return claim === 'nbf' ? 'not_yet_valid' : 'claims';
}

function claimsOf(payload: unknown): PhaseClaims {
  if (!isJsonObject(payload) || !hasShape(payload)) throw refused('claims');
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

function faultOfPurpose(claims: PhaseClaims, expected: ExpectedToken): TokenFault | null {
  if (expected.task_id !== undefined && claims.task_id !== expected.task_id) return 'other_run';
  if (expected.agent_id !== undefined && claims.agent_id !== expected.agent_id) return 'other_agent';
  if (expected.phase !== undefined && claims.phase !== expected.phase) return 'other_phase';
  return expected.epoch !== undefined && claims.epoch !== expected.epoch ? 'dead_epoch' : null;
}

/** Verifying costs more than looking up; the oldest are forgotten so that the cache stays small. */
function remember(verified: Map<string, PhaseClaims>, token: string, claims: PhaseClaims): void {
  if (verified.size >= REMEMBERED) {
    for (const oldest of verified.keys()) {
      verified.delete(oldest);
      break;
    }
  }
  verified.set(token, claims);
}

function refused(fault: TokenFault, cause?: unknown): PhasegateError {
  return new PhasegateError('token_invalid', TOKEN_FAULTS[fault], { cause });
}
