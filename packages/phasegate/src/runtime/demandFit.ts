import { PhasegateError } from '@phasegate/core';
import { EVIDENCE_LIMIT, jsonBytes, jsonProblem } from '@phasegate/core/model';

/**
 * What a caller hands in must be writable as JSON, and within the limit of evidence. Asked here as well as at the surfaces: every way to a run leads
 * through the runtime, and a value nobody can write would only be noticed when it is stored.
 */
export function demandFit(said: object): void {
  const unfit = jsonProblem(said);
  if (unfit !== null) throw new PhasegateError('evidence_unreadable', `what was handed in ${unfit}`);
  if (jsonBytes(said, EVIDENCE_LIMIT) <= EVIDENCE_LIMIT) return;
  throw new PhasegateError('evidence_unreadable', 'what was handed in is over the limit of 1 MB', {
    hint: 'hand in what the phase asks for, and leave the rest in files',
  });
}
