import type { Json } from '@phasegate/core';

/** What is known about a parameter a handler reads; the exhaustive tests are made from it. */
export interface Arg {
  readonly description: string;
  readonly default?: Json;
  readonly min: number | null;
  readonly max: number | null;
  readonly choices: readonly Json[] | null;
  readonly required: boolean;
}

/** Describes a parameter of a handler. JavaScript has no annotations, so it stands in the step's `args`. */
export function Arg(about: Partial<Arg> = {}): Arg {
  return Object.freeze({
    description: about.description ?? '',
    ...(about.default === undefined ? {} : { default: about.default }),
    min: about.min ?? null,
    max: about.max ?? null,
    choices: about.choices ? Object.freeze([...about.choices]) : null,
    required: about.required ?? false,
  });
}
