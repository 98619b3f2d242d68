import { PhasegateError } from '@phasegate/core';
import type { Standards } from '../runtime/ports.ts';

/** Opens the index of a project's documentation. */
export function openStandards(_options: {
  readonly root: string;
  readonly stateDir: string;
  readonly docs: readonly string[];
}): Standards {
  throw new PhasegateError('internal', 'documentation search is not there yet');
}
