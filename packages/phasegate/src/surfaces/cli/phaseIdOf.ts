import type { PhaseId } from '@phasegate/core';

/** A phase as written on a command line: ids that are all digits are numbers, as in a definition. */
export function phaseIdOf(word: string): PhaseId {
  return /^(?:0|[1-9]\d{0,14})$/.test(word) ? Number(word) : word;
}
