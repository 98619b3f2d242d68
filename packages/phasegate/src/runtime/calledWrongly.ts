import { type Blocker, phaseById, type Run } from '@phasegate/core';

/** What cannot be judged for certain is refused, with what the phase allows instead. */
export function calledWrongly(run: Run, tool: string, message: string): Blocker {
  const allowed = (run.phase === null ? undefined : phaseById(run.workflow, run.phase))?.tools.allowed ?? [];
  const text = `call it as its schema says, or use what the phase allows: ${allowed.join(', ') || 'no tools'}`;
  return {
    code: 'tool_constraint',
    message: `\`${tool}\` was called wrongly: ${message}`,
    nextAction: { act: 'use_allowed_tool', ...(run.phase === null ? {} : { phase: run.phase }), text },
  };
}
