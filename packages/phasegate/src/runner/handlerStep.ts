import type { StepEnd } from './parts.ts';

/** A handler is the engine's to call: completing the phase runs it, and its outcome decides where the run goes. */
export function handlerStep(): StepEnd {
  return { kind: 'result', evidence: {} };
}
