import { blocker, refused } from './blockers.ts';
import type { Circumstance } from './command.ts';
import type { Considered } from './deciding.ts';
import type { RunEvent } from './events.ts';
import type { GateWait, Run } from './run.ts';

/** Whether a completion would install a copy that can no longer be installed. */
export function needsMovedDatabase(events: readonly RunEvent[], { database }: Circumstance): boolean {
  return events.some(
    (event) =>
      event.type === 'phase_completed' && event.database !== undefined && event.database !== database,
  );
}

/** The gate is closed and its step done anew: what the human was shown is no longer available. */
export function doneAnew(run: Run, wait: GateWait, now: string): Considered {
  const reason = `the database changed while gate \`${wait.gate}\` was open, so the copy that waited there was dropped`;
  const again = `phase \`${run.phase}\` is done anew; decide at the gate that opens then`;
  return {
    verdict: refused([
      blocker('database_moved', reason, {
        act: 'complete_phase',
        phase: run.phase as string | number,
        text: again,
      }),
    ]),
    events: [{ at: now, type: 'gate_closed', gate: wait.gate, reason }],
  };
}
