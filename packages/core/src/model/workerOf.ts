import type { Phase, Work } from './workflow.ts';

/**
 * Who does the work of a phase. A handler that stands beside something to do (instructions, tasks, evidence to hand
 * in) only decides what came of it: the work is the agent's. A name alone asks nothing of anybody, so such a phase is
 * the engine's.
 */
export function workerOf(phase: Phase): Work['kind'] {
  return phase.work.kind === 'handler' && asksForWork(phase) ? 'agent' : phase.work.kind;
}

function asksForWork({ instructions, render, content, tasks, evidence }: Phase): boolean {
  return (
    instructions.trim() !== '' ||
    render !== null ||
    content !== null ||
    tasks.length > 0 ||
    evidence.fields.length > 0 ||
    evidence.artifacts.length > 0
  );
}
