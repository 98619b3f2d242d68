import { randomUUID } from 'node:crypto';
import type { PhaseId } from '@phasegate/core';
import { type CheckedToken, type PhaseClaims, readOwn, readToken, signToken } from './signedToken.ts';
import { type TokenFault, tokenRefused } from './tokenFaults.ts';
import { type KeyringOptions, keyring, type TokenKeys } from './tokenKeys.ts';

/** Issues and verifies phase tokens. */
export interface Tokens {
  /** Signs at once: the id of a token is written together with what the token is for. */
  issue(request: TokenRequest): IssuedToken;
  /** What a token says, or what is wrong with it; at once for one of ours. */
  check(token: string): CheckedToken | Promise<CheckedToken>;
  /** What a token says that is known to be ours at once and has not expired; null for any other. */
  known(token: string): PhaseClaims | null;
  /** The claims of a valid token that serves what is expected. Throws `tokenRefused`. */
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

/** What a token must be for; a member left out is not asked about. */
export type ExpectedToken = Partial<Pick<PhaseClaims, 'task_id' | 'phase' | 'agent_id' | 'epoch'>>;

/** Builds the token office from the project's secrets, or from the environment's where it has one. */
export function createTokens(options: KeyringOptions): Tokens {
  const { now } = options;
  let verified: Verified = new Map();
  let earlier: Verified = new Map();
  const keys = keyring(options, () => {
    verified = new Map();
    earlier = new Map();
  });

  function check(token: string): CheckedToken | Promise<CheckedToken> {
    // First of all: a rotation must be noticed, and what was verified with a secret that is gone forgotten.
    const ring = keys();
    const known = remembered(token) ?? ours(token, ring);
    if (known === undefined) return checkUnseen(token, ring);
    return known.claims.exp <= Math.floor(now() / 1000)
      ? { ok: false, fault: 'expired', claims: known.claims }
      : known;
  }

  async function checkUnseen(token: string, ring: TokenKeys): Promise<CheckedToken> {
    const checked = await readToken(token, ring, now());
    if (checked.ok) {
      // Not where the keys changed meanwhile: what was verified with a secret that is gone is not remembered.
      if (keys() === ring) remember(token, checked);
      return checked;
    }
    const fresh = checked.fault === 'unknown_key' ? keys('now') : ring;
    return fresh === ring ? checked : readToken(token, fresh, now());
  }

  /**
   * An agent may come back with its token after thousands of others; to find it to be what we sign is a hundredth of the
   * way that all other tokens take.
   */
  function ours(token: string, { current, previous }: TokenKeys): Remembered | undefined {
    const claims =
      readOwn(token, current, now()) ?? (previous === null ? null : readOwn(token, previous, now()));
    if (claims === null) return undefined;
    const checked = { ok: true as const, claims };
    remember(token, checked);
    return checked;
  }

  /** Verifying costs more than looking up; those that nobody came back with are forgotten, so that the cache stays small. */
  function remember(token: string, checked: Remembered): void {
    // Not one by one: the oldest key of a map from which many were taken is found by going past all of these.
    if (verified.size >= REMEMBERED / 2) {
      earlier = verified;
      verified = new Map();
    }
    verified.set(token, checked);
  }

  function remembered(token: string): Remembered | undefined {
    const known = verified.get(token);
    if (known !== undefined) return known;
    const before = earlier.get(token);
    if (before !== undefined) remember(token, before);
    return before;
  }

  return {
    check,

    known(token) {
      const ring = keys();
      const known = remembered(token) ?? ours(token, ring);
      return known === undefined || known.claims.exp <= Math.floor(now() / 1000) ? null : known.claims;
    },

    issue(request) {
      const { expirySeconds, ...purpose } = request;
      const iat = Math.floor(now() / 1000);
      const claims: PhaseClaims = { ...purpose, jti: randomUUID(), iat, exp: iat + expirySeconds };
      const token = signToken(claims, keys().current);
      // Our own signature needs no verifying when the token comes back.
      remember(token, { ok: true, claims });
      return { token, jti: claims.jti, expiresAt: new Date(claims.exp * 1000).toISOString() };
    },

    async verify(token, expected = {}) {
      const checked = await check(token);
      if (!checked.ok) throw tokenRefused(checked.fault);
      const fault = faultOfPurpose(checked.claims, expected);
      if (fault !== null) throw tokenRefused(fault);
      return checked.claims;
    },
  };
}

const REMEMBERED = 4000;

type Remembered = CheckedToken & { readonly ok: true };
type Verified = Map<string, Remembered>;

function faultOfPurpose(claims: PhaseClaims, expected: ExpectedToken): TokenFault | null {
  if (expected.task_id !== undefined && claims.task_id !== expected.task_id) return 'other_run';
  if (expected.agent_id !== undefined && claims.agent_id !== expected.agent_id) return 'other_agent';
  if (expected.phase !== undefined && claims.phase !== expected.phase) return 'other_phase';
  return expected.epoch !== undefined && claims.epoch !== expected.epoch ? 'dead_epoch' : null;
}
