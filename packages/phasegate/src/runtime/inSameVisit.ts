import { type Command, own, PhasegateError, type Run } from '@phasegate/core';

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
