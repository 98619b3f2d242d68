import type { StepEnd } from './parts.ts';

/**
 * The step of a handler that has nothing beside it for an agent to do. It is the engine's to call: completing the
 * phase runs it, and its outcome decides where the run goes.
 */
export function handlerStep(): StepEnd {
  return { kind: 'result', evidence: {} };
}
