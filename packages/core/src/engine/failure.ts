import { type Phase, phaseById } from '../model/workflow.ts';
import { notAtItem, sequenceBlocker } from './atWork.ts';
import { blocker, nextActionFor } from './blockers.ts';
import type { Circumstance, Command } from './command.ts';
import { type Considered, refuseWork, turnAway } from './deciding.ts';
import { awayFromItems, readItem, withFailedItems } from './items.ts';
import type { Run } from './run.ts';

/**
 * The work of the current phase, or of one item, gave no result to judge: an attempt like one whose postconditions
 * failed. It never moves a run on: the first is tried again with the reason, the second is handed to a human.
 */
export function considerFailure(
  run: Run,
  command: Extract<Command, { kind: 'report_failure' }>,
  circumstance: Circumstance,
): Considered {
  const away = notAtItem(run, circumstance, command.item);
  if (away !== null) return turnAway([away]);
  const { now } = circumstance;
  const uncounted = (reason: Parameters<typeof refuseWork>[2]['blockers']) =>
    withFailedItems(run, now, refuseWork(run, now, { blockers: reason, counted: false, item: command.item }));
  if (command.phase !== run.phase) {
    const blockers = [sequenceBlocker(run, command.phase)];
    const late = run.completions.some((completion) => completion.phase === command.phase);
    return late ? turnAway(blockers) : uncounted(blockers);
  }
  const phase = phaseById(run.workflow, run.phase) as Phase;
  const others = awayFromItems(run, phase, command.item);
  if (others !== null) return others;
  const item = readItem(run, phase, command);
  if (item !== null && item !== 'all' && 'code' in item) return uncounted([item]);
  const reason = command.reason.trim();
  if (reason === '') {
    return uncounted([
      blocker('reason_required', 'say why the work failed', nextActionFor(run, circumstance.principal.name)),
    ]);
  }
  const blockers = [blocker('work_failed', reason, nextActionFor(run, circumstance.principal.name))];
  return withFailedItems(run, now, refuseWork(run, now, { blockers, counted: true, item: command.item }));
}
