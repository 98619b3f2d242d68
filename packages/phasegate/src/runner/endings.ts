import type { Run } from '@phasegate/core';
import type { Driven } from '../runtime/ports.ts';

/** How driving ended where the run itself says so. */
export function driven(run: Run): Driven {
  const common = { run: run.id, status: run.status, phase: run.phase };
  switch (run.status) {
    case 'completed':
      return { ...common, outcome: 'completed', message: 'the run is completed' };
    case 'stopped':
      return { ...common, outcome: 'stopped', message: `the run was stopped: ${run.reason}` };
    case 'escalated':
      return { ...common, outcome: 'escalated', message: run.escalation.message };
    case 'waiting': {
      const what =
        run.wait.for === 'gate' ? `a human decides at gate \`${run.wait.gate}\`` : 'a human answers';
      return { ...common, outcome: 'waiting', message: `the run waits until ${what}` };
    }
    default:
      throw new TypeError('the run goes on');
  }
}

/** Nobody is there to do an agent's work. */
export function awaited(run: Run): Driven {
  const message = `phase \`${run.phase}\` is an agent's: complete it, then go on with \`phasegate run ${run.id}\``;
  return { run: run.id, status: run.status, phase: run.phase, outcome: 'awaiting_agent', message };
}

/** What was under way was ended, and the run can be resumed. */
export function interrupted(run: Run, why: string): Driven {
  return { run: run.id, status: run.status, phase: run.phase, outcome: 'interrupted', message: why };
}
