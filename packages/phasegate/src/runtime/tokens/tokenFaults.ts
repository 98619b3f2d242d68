import { type ErrorCode, PhasegateError } from '@phasegate/core';

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
  superseded: 'the phase token was replaced by newer ones',
} as const;

/** A reason to refuse a token. */
export type TokenFault = keyof typeof TOKEN_FAULTS;

/** The fault of a refused token: expired, dead (good once, or for something else), or not one of ours. */
export function tokenRefused(fault: TokenFault, cause?: unknown): TokenRefused {
  return new TokenRefused(fault, cause);
}

/** A refused token, with which of the reasons it was. */
export class TokenRefused extends PhasegateError {
  readonly fault: TokenFault;

  constructor(fault: TokenFault, cause?: unknown) {
    super(CODES[fault] ?? 'token_invalid', TOKEN_FAULTS[fault], { cause });
    this.name = 'TokenRefused';
    this.fault = fault;
  }
}

/** What is not simply invalid. */
const CODES: Partial<Record<TokenFault, ErrorCode>> = {
  expired: 'token_expired',
  other_run: 'token_dead',
  other_phase: 'token_dead',
  other_agent: 'token_dead',
  dead_epoch: 'token_dead',
};
