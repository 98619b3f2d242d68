import type { Blocker, Run } from '@phasegate/core';
import { nextActionFor } from '@phasegate/core/engine';

/** A refusal that needs no engine, with what may be done instead. */
export function blockerOf(run: Run | null, code: Blocker['code'], message: string): Blocker {
  const nextAction: Blocker['nextAction'] =
    run === null
      ? { act: 'start', text: 'start a run, or read only' }
      : run.status === 'active'
        ? {
            act: 'use_allowed_tool',
            phase: run.phase,
            text: `use what phase \`${run.phase}\` allows, or complete it`,
          }
        : nextActionFor(run);
  return { code, message, nextAction };
}
