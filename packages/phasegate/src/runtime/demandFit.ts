import { jsonProblem, PhasegateError } from '@phasegate/core';

/**
 * What a caller hands in must be writable as JSON. Asked here as well as at the surfaces: every way to a run leads
 * through the runtime, and a value nobody can write would only be noticed when it is stored.
 */
export function demandFit(said: object): void {
  const unfit = jsonProblem(said);
  if (unfit !== null) throw new PhasegateError('evidence_unreadable', `what was handed in ${unfit}`);
}
