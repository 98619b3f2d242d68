import { blocker, nextActionFor } from './blockers.ts';
import type { Circumstance } from './command.ts';
import { itemOf } from './holding.ts';
import type { Run } from './run.ts';
import type { Blocker, BlockerCode } from './verdict.ts';

/** Why this principal may not work on the run now, or null. */
export function notAtWork(run: Run, circumstance: Circumstance): Blocker | null {
  return awayFrom(run, circumstance, (name) => run.holder === name);
}

/**
 * The same for one item of a parallel phase: the run's holder works on items that nobody else has claimed, and
 * the one who claimed one works on that one only.
 */
export function notAtItem(run: Run, circumstance: Circumstance, key: string | undefined): Blocker | null {
  const holder = key === undefined ? undefined : itemOf(run, key)?.holder;
  const { name } = circumstance.principal;
  const away = awayFrom(run, circumstance, () => run.holder === name || holder === name);
  if (away !== null || holder === undefined || holder === name) return away;
  return blocker('item_held', `item \`${key}\` is held by another agent`, nextActionFor(run, name));
}

/** The refusal of a run that is another's. */
export function notYours(run: Run): Blocker {
  return blocker('not_your_run', `run \`${run.id}\` is held by another agent`, {
    act: 'none',
    text: 'work on a run of your own',
  });
}

function awayFrom(run: Run, circumstance: Circumstance, mine: (name: string) => boolean): Blocker | null {
  const { principal } = circumstance;
  // Only for who is refused: every command of an agent comes through here.
  const away = (code: BlockerCode, message: string) => blocker(code, message, nextActionFor(run));
  if (principal.kind !== 'agent')
    return away('not_an_agent', 'phases are completed by the agent that holds the run');
  if (run.status === 'queued')
    return away('run_not_active', `run \`${run.id}\` is queued and nobody holds it`);
  if (!mine(principal.name)) return notYours(run);
  if (run.status === 'waiting') return away('run_waiting', `run \`${run.id}\` waits for a human`);
  if (run.status === 'escalated')
    return away('run_escalated', `run \`${run.id}\` is escalated: ${run.escalation.message}`);
  if (run.status !== 'active') return away('run_ended', `run \`${run.id}\` is ${run.status}`);
  return null;
}

/** The refusal of any phase but the current one. */
export function sequenceBlocker(run: Run, requested: string | number): Blocker {
  const message = `Cannot access Phase ${requested}: currently on Phase ${run.phase}`;
  return blocker('phase_sequence_violation', message, nextActionFor(run));
}
