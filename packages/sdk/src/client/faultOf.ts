import {
  ERROR_CODES,
  type ErrorCode,
  isJsonObject,
  type JsonObject,
  own,
  PhasegateError,
  type Problem,
} from '@phasegate/core';

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
  const problems = problemsIn(error.answer);
  return new PhasegateError(code, error.message, {
    cause: error,
    ...(hint === null ? {} : { hint }),
    ...(problems.length === 0 ? {} : { problems }),
  });
}

function hintOf({ answer, nextAction, uncertain }: Failed): string | null {
  if (uncertain) return 'it may have been carried out all the same: look before you try again';
  const hint = own(answer, 'hint');
  return typeof hint === 'string' ? hint : nextAction;
}

/** Problems of a definition, which have their place in a file; those of a request are in the message. */
function problemsIn(answer: JsonObject): readonly Problem[] {
  const list = own(answer, 'problems');
  if (!Array.isArray(list)) return [];
  return list.filter(isJsonObject).flatMap(({ file, line, column, code, message }) => {
    if (typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') return [];
    return [{ file, line, column, code: String(code), message: String(message), severity: 'error' as const }];
  });
}
