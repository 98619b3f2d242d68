import type { BlockerCode, ErrorCode, JsonObject, PhasegateError } from '@phasegate/core';
import type { WireBlocker } from '#wire';
import { faultOf } from './faultOf.ts';

/** One thing wrong with a request. */
export interface WireProblem {
  /** Where in the request, e.g. `artifacts.plan.title`. */
  readonly field: string;
  readonly message: string;
}

/** What is known about a failed call beside its code and message. */
export interface ClientErrorDetails {
  readonly status?: number | null;
  readonly blockers?: readonly WireBlocker[];
  readonly problems?: readonly WireProblem[];
  readonly nextAction?: string | null;
  readonly uncertain?: boolean;
  readonly retryAfterMs?: number | null;
  readonly answer?: JsonObject;
  readonly cause?: unknown;
}

/**
 * The one error the client throws: a refusal of the workflow, a credential that does not do, a request that is
 * malformed, or a server that does not answer. It never holds a credential.
 */
export class PhasegateClientError extends Error {
  /** A fault's or a refusal's code; `docs/errors.md` explains each. */
  readonly code: ErrorCode | BlockerCode | (string & {});
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Every reason of a refusal, each with what to do next. */
  readonly blockers: readonly WireBlocker[];
  /** Everything wrong with the request. */
  readonly problems: readonly WireProblem[];
  /** The one legal thing to do next, where the server says. */
  readonly nextAction: string | null;
  /** True where the request may have been carried out although no answer came, or the answer is a fault. */
  readonly uncertain: boolean;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** All the server said, e.g. `missing_evidence` and `attempt` of a refused transition; empty where no answer came. */
  readonly answer: JsonObject;

  constructor(code: PhasegateClientError['code'], message: string, details: ClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'PhasegateClientError';
    this.code = code;
    this.status = details.status ?? null;
    this.blockers = details.blockers ?? [];
    this.problems = details.problems ?? [];
    this.nextAction = details.nextAction ?? null;
    this.uncertain = details.uncertain ?? false;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.answer = details.answer ?? {};
  }

  /** The same as the engine's own error, for surfaces that do not know where the engine is. */
  asFault(): PhasegateError {
    return faultOf(this);
  }
}
