import { PhasegateError } from '@phasegate/core';

/** A fault of the caller: exit code 2. */
export function usageError(message: string, hint?: string): PhasegateError {
  return new PhasegateError('usage', message, hint === undefined ? {} : { hint });
}
