import { PhasegateError } from '@phasegate/core';

/** One thing `doctor` looked at. Without what is missing not everything works; what is optional may stay as it is. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'missing' | 'optional' | 'broken';
  readonly message: string;
  readonly next_step?: string;
}

/** What cannot be used, with the way out that the fault names. */
export function broken(name: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof PhasegateError ? error.hint : undefined;
  return { name, status: 'broken', message, ...(hint === undefined ? {} : { next_step: hint }) };
}
