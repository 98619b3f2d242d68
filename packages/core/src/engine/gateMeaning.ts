import { approvalOf } from '../model/approval.ts';
import { leadsBack } from '../model/edges.ts';
import type { GateOption, Outcome, Phase } from '../model/workflow.ts';
import { blocker } from './blockers.ts';
import type { Asking } from './deciding.ts';
import { routeFrom } from './route.ts';
import type { GateWait, Run } from './run.ts';
import type { Blocker, NextAction } from './verdict.ts';

/** What is left to do while a gate is open. */
export const AT_THE_GATE: NextAction = { act: 'wait_for_human', text: 'a human decides at the open gate' };

/** What a choice means: a yes, a no, or neither, where the phase's own way is not the one after `ok`. */
export type Meaning = 'approves' | 'rejects' | 'follows';

/** Judged by the way that is really taken, so a label means nothing by itself. */
export function meaningOf(
  run: Run,
  { wait, phase, option }: { readonly wait: GateWait; readonly phase: Phase; readonly option: GateOption },
  asking: Asking,
): Meaning | Blocker {
  const said = approvalOf(run.workflow, phase, option);
  if (said !== 'way') return said === 'yes' ? 'approves' : 'rejects';
  if (option.next === undefined && phase.next.kind !== 'when') {
    return isOkWay(phase, wait.outcome) ? 'approves' : 'follows';
  }
  const worked: Run = { ...run, state: { ...run.state, ...wait.state } };
  const judged = { phase, evidence: wait.evidence, outcome: wait.outcome };
  const routed = routeFrom(worked, judged, asking);
  if (option.next === undefined && routed.kind !== 'unanswerable') {
    // A condition that sends the work back has not found it good, and the human only agreed with that.
    const back = routed.kind !== 'to' || leadsBack(run.workflow, phase.id, routed.target);
    return back ? 'follows' : 'approves';
  }
  if (routed.kind === 'to') return routed.target === option.next ? 'approves' : 'rejects';
  if (routed.kind !== 'unanswerable') return 'rejects';
  const message = `what \`${option.label}\` means cannot be told: ${routed.reason}`;
  return blocker('condition_unanswerable', message, AT_THE_GATE);
}

function isOkWay({ next }: Phase, outcome: Outcome): boolean {
  if (outcome === 'ok' || next.kind !== 'outcomes') return true;
  // The end of the run is a way too, and is written `null`.
  const { map, otherwise } = next;
  const wayOf = (one: Outcome) => (Object.hasOwn(map, one) ? map[one] : otherwise);
  return wayOf(outcome) === wayOf('ok');
}
