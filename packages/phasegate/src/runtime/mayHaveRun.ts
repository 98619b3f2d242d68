import { ERROR_CODES, PhasegateError } from '@phasegate/core';

/** What stopped a call that was begun: a program may have run, so nobody is to repeat it without a look. */
export function mayHaveRun(error: unknown): PhasegateError {
  const isKnown = error instanceof PhasegateError;
  const [code, message] = isKnown ? [error.code, error.message] : ['internal' as const, ERROR_CODES.internal];
  return new PhasegateError(code, message, { cause: error, uncertain: true, hint: LOOK_FIRST });
}

const LOOK_FIRST =
  'it may have been carried out all the same: look at what it changed before you repeat it; the audit has its record once the store is back';
