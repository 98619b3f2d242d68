import { approvalOf } from '../model/approval.ts';
import { type Phase, phaseById } from '../model/workflow.ts';
import type { Completion, Run } from './run.ts';

/*
 * Runs that began before decisions had an outcome of their own. Their completions say `ok` whatever the human chose;
 * what was chosen stands in the decision taken at the same moment.
 */

/** Whether a human's choice that does not approve led out of this visit. */
export function isRejectedBefore(run: Run, completion: Completion): boolean {
  return approvedBefore(run, completion) === false;
}

/** Whether a human approved what this visit handed in. */
export function isApprovedBefore(run: Run, completion: Completion): boolean {
  return approvedBefore(run, completion) === true;
}

function approvedBefore(run: Run, completion: Completion): boolean | null {
  if (run.rules !== undefined || run.decisions.length === 0) return null;
  const phase = phaseById(run.workflow, completion.phase);
  const gate = phase?.humanGate;
  if (gate == null || completion.outcome === 'fail') return null;
  const decision = run.decisions.findLast(
    (one) => one.at === completion.at && one.gate.startsWith(`${gate.id}#`),
  );
  const option = gate.options.find(({ label }) => label === decision?.option);
  return option === undefined ? null : approvalOf(run.workflow, phase as Phase, option) !== 'no';
}
