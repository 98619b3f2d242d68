import { type ErrorCode, type JsonObject, own, PhasegateError } from '@phasegate/core';
import type { Context } from 'hono';
import { addressOf } from './address.ts';
import type { Metrics } from './metrics.ts';
import type { RestEnv, RestParts } from './parts.ts';
import { RequestRefused } from './problem.ts';
import { createFailureLimit } from './rateLimit.ts';

/** Why a credential was refused. */
export interface CredentialDetails {
  /** What goes on the project's chain; never the credential. */
  readonly record: JsonObject;
  /** Whether it may have been an attempt to guess one: those are limited. */
  readonly guess?: boolean;
  readonly hint?: string;
}

/** A credential that opens nothing, or not this. */
export class CredentialRefused extends RequestRefused {
  readonly record: JsonObject;
  readonly guess: boolean;

  constructor(code: ErrorCode, message: string, details: CredentialDetails) {
    super(code, message, details.hint === undefined ? {} : { hint: details.hint });
    this.name = 'CredentialRefused';
    this.record = details.record;
    this.guess = details.guess ?? false;
  }
}

/** Writes refused credentials down and limits how many can be tried. */
export interface CredentialRefusals {
  /** Records what has to be, and gives what to throw: the same, or 429 for a guess over the limit. */
  settle(c: Context<RestEnv>, error: unknown): Promise<unknown>;
}

/** The refusals of one server. */
export function createCredentialRefusals(
  parts: Pick<RestParts, 'project' | 'now'>,
  metrics: Pick<Metrics, 'credentialFailed'>,
): CredentialRefusals {
  const guesses = createFailureLimit({ limit: LIMIT, windowMs: WINDOW, now: parts.now });

  return {
    async settle(c, error) {
      // A bad token is recorded by the one who admits tokens.
      const ours = error instanceof CredentialRefused;
      const token = error instanceof PhasegateError && error.code.startsWith('token_');
      if (!ours && !token) return error;
      // So is a wrong passphrase, by the humans' own room.
      if (ours && error.record.reason === null) return error;
      metrics.credentialFailed(ours ? String(error.record.reason) : error.code);
      const address = addressOf(c);
      if (ours) {
        const { method, path } = c.req;
        const where = { address, method: method.slice(0, 20), path: path.slice(0, 200) };
        await parts.project.noteCredentialFailure({ ...error.record, ...where });
      }
      if (!(ours ? error.guess : isGuess(error))) return error;
      const { over, retryAfter } = guesses.failed(address);
      if (!over) return error;
      return new RequestRefused('rate_limited', 'too many credentials from this address were refused', {
        headers: { 'retry-after': String(retryAfter) },
      });
    },
  };
}

/**
 * One that is too old or was replaced was ours, so it is no guess; nor is one of a secret that is gone: after two
 * rotations every agent of a machine shows one, and needs to hear that it is to take a fresh one.
 */
function isGuess(error: PhasegateError): boolean {
  const fault = own(error, 'fault');
  return error.code === 'token_invalid' && fault !== 'unknown_key' && fault !== 'superseded';
}

const LIMIT = 20;
const WINDOW = 60_000;
