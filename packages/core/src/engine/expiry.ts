import { DEFAULT_VISITS } from '../model/compile/checkGraph.ts';
import type { GateTimeout, HumanGate, Phase } from '../model/workflow.ts';
import { blocker, refused } from './blockers.ts';
import type { Circumstance } from './command.ts';
import { Asking, type Considered, escalation } from './deciding.ts';
import type { RunEvent } from './events.ts';
import { fenceOf } from './fence.ts';
import { AT_THE_GATE } from './gateMeaning.ts';
import { openGate } from './openGate.ts';
import { type GateWait, type Run, resultOf, timesOf } from './run.ts';
import { addSeconds } from './time.ts';
import { cross } from './transition.ts';

/** What happens to a gate whose time is up, or null while it is not. Nothing is approved by waiting. */
export function considerExpiry(run: Run, circumstance: Circumstance): Considered | null {
  const { now } = circumstance;
  const open = openGate(run);
  const due = gateDueAt(run);
  if (open === null || due === null || now < due) return null;
  const message = `nobody decided at gate \`${open.wait.gate}\` in time`;
  const blockers = [blocker('gate_timed_out', message, AT_THE_GATE)];
  const after = whatFollows({ ...open, run, message, blockers }, circumstance);
  if ('looks' in after) return after;
  return {
    verdict: refused(blockers),
    events: [{ at: now, type: 'gate_timed_out', gate: open.wait.gate }, after],
  };
}

/** From when on the gate a run waits at is closed by time alone; null where it waits at none, or that has no limit. */
export function gateDueAt(run: Run): string | null {
  const open = openGate(run);
  if (open === null || open.gate.timeout === null) return null;
  return addSeconds(open.wait.since, open.gate.timeout.afterSeconds);
}

interface Expired {
  readonly run: Run;
  readonly wait: GateWait;
  readonly gate: HumanGate;
  readonly phase: Phase;
  readonly message: string;
  readonly blockers: Parameters<typeof escalation>[3];
}

function whatFollows(
  expired: Expired,
  circumstance: Circumstance,
): RunEvent | Extract<Considered, { looks: unknown }> {
  const { gate, message, blockers } = expired;
  const { now } = circumstance;
  const timeout = gate.timeout as GateTimeout;
  const parked = (why = '') => escalation(now, 'gate_timed_out', `${message}${why}`, blockers);
  if (timeout.afterwards === 'stop')
    return { at: now, type: 'run_stopped', reason: message, by: 'phasegate' };
  if (timeout.afterwards !== 'route') return parked();
  const { run, wait, phase } = expired;
  const { to } = timeout;
  // Time alone could go round for ever.
  if (timesOf(run.visits, to) >= DEFAULT_VISITS)
    return parked(`, and \`${to}\` was visited ${DEFAULT_VISITS} times`);
  const asking = new Asking(circumstance);
  const outside = fenceOf(run, phase, asking).blockers;
  if (asking.missing.length > 0) return { looks: asking.missing };
  // The next phase must not begin with what was changed outside the scope while nobody looked.
  if (outside.length > 0) return parked(`, and files were changed outside the scope: ${outside[0]?.message}`);
  const leaving = {
    phase,
    ...resultOf(wait),
    outcome: 'expired' as const,
    state: {},
    by: wait.by,
    now,
    wouldRefuse: wait.wouldRefuse,
  };
  const crossing = cross(run, leaving, { target: to, iterated: false, asking, permissive: false });
  if (asking.missing.length > 0) return { looks: asking.missing };
  return crossing.ok ? crossing.event : parked(`, and phase \`${to}\` cannot be entered`);
}
