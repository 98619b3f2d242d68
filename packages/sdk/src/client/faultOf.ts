import { ERROR_CODES, type ErrorCode, type JsonObject, own, PhasegateError } from '@phasegate/core';
import { decodeDefects } from '#wire';

/** What of a client's error the engine's has a place for. */
export interface Failed extends Error {
  readonly code: string;
  readonly answer: JsonObject;
  readonly nextAction: string | null;
  readonly uncertain: boolean;
}

/** A client's error in the engine's words. */
export function faultOf(error: Failed): PhasegateError {
  const code = Object.hasOwn(ERROR_CODES, error.code) ? (error.code as ErrorCode) : 'not_permitted';
  const hint = hintOf(error);
  const problems = decodeDefects(error.answer);
  return new PhasegateError(code, error.message, {
    cause: error,
    ...(hint === null ? {} : { hint }),
    ...(error.uncertain ? { uncertain: true } : {}),
    ...(problems.length === 0 ? {} : { problems }),
  });
}

function hintOf({ answer, nextAction, uncertain }: Failed): string | null {
  if (uncertain) return 'it may have been carried out all the same: look before you try again';
  const hint = own(answer, 'hint');
  return typeof hint === 'string' ? hint : nextAction;
}
