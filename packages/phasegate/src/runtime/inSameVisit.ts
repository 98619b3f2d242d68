import { type Command, own, PhasegateError, type Run } from '@phasegate/core';
import { findPhase } from '@phasegate/core/engine';
import type { Around } from './ports.ts';
import { tokenRefused } from './tokens/tokenFaults.ts';

/**
 * The command as the engine takes it, for a run that still stands where the work for it began. INVARIANT: a result
 * belongs to its visit: what was done in an earlier one completes no later one of the same name.
 */
export function inSameVisit(run: Run, command: Command): Command {
  if (!('at' in command) || command.at === undefined) return command;
  const { at, ...plain } = command;
  const visit = own(run.visits, String(run.phase));
  if (at.epoch === run.epoch && (at.visit ?? visit) === visit) return plain;
  throw new PhasegateError('run_changed', `run \`${run.id}\` has moved on since this work was begun`, {
    hint: `look where it is, and do what it asks for now: phasegate status ${run.id}`,
  });
}

/** Throws where the run has moved on, or has another workflow, since the work was begun. */
export function demandSame(run: Run, how: Pick<Around, 'admitted' | 'workflowHash'>): void {
  // INVARIANT: a token serves the epoch it was issued in; who was admitted before the run moved on is too late.
  if (how.admitted !== undefined && how.admitted.epoch !== run.epoch) throw tokenRefused('dead_epoch');
  if (how.workflowHash !== undefined && how.workflowHash !== run.workflowHash)
    throw new PhasegateError('run_changed', `run \`${run.id}\` has another workflow by now`);
}

/** The command with its phase as the workflow's author wrote it; a request may give id, number or name. */
export function inItsWords(run: Run, command: Command): Command {
  if (command.kind !== 'complete' && command.kind !== 'fetch_task') return command;
  const phase = findPhase(run.workflow, command.phase);
  return phase === null || phase.id === command.phase ? command : { ...command, phase: phase.id };
}
