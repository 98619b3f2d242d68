import { edgesOf, leadsBack } from './edges.ts';
import type { GateOption, Phase, Target, Workflow } from './workflow.ts';

/**
 * What choosing an option means, as far as the definition tells: `yes` approves, `no` does not, `way` depends on where
 * the phase's own route really leads when the choice is made.
 */
export function approvalOf(workflow: Workflow, phase: Phase, option: GateOption): 'yes' | 'no' | 'way' {
  if (option.next === null) return 'no';
  if (option.approves !== undefined) return option.approves ? 'yes' : 'no';
  if (option.next === undefined) return 'way';
  // Being sent back is not being approved, also where the phase would have gone back by itself.
  if (leadsBack(workflow, phase.id, option.next)) return 'no';
  const targets = okTargets(phase);
  if (targets.includes(option.next)) return targets.length === 1 ? 'yes' : 'way';
  return 'no';
}

/** Where the phase's own way leads after `ok`: one phase, or with a condition one of several. */
export function okTargets({ next, parallel }: Phase): readonly Target[] {
  const empty = parallel?.onEmpty === undefined ? [] : [parallel.onEmpty];
  switch (next.kind) {
    case 'to':
      return [...new Set([next.target, ...empty])];
    case 'when':
      return [...new Set([next.onTrue, next.onFalse, ...empty])];
    case 'outcomes': {
      const target = Object.hasOwn(next.map, 'ok') ? next.map.ok : next.otherwise;
      return [...new Set([...(target === undefined ? [] : [target]), ...empty])];
    }
  }
}

/** Whether an author must say what the option means: it leads on by a way that is not the phase's own. */
export function needsApproves(workflow: Workflow, phase: Phase, option: GateOption): boolean {
  if (option.approves !== undefined || option.next === undefined || option.next === null) return false;
  if (okTargets(phase).includes(option.next)) return false;
  return !leadsBack(workflow, phase.id, option.next);
}

/** Every phase that a yes at this phase's gate can lead to. */
export function approvingTargets(workflow: Workflow, phase: Phase): readonly Target[] {
  const options = phase.humanGate?.options ?? [];
  return options.flatMap((option) => {
    if (approvalOf(workflow, phase, option) === 'no') return [];
    if (option.next !== undefined) return [option.next];
    return edgesOf(phase).flatMap((edge) => (edge.by === 'option' || edge.by === 'timeout' ? [] : [edge.to]));
  });
}
