import { approvalOf, okTargets } from '../approval.ts';
import { edgesOf, leadsBack } from '../edges.ts';
import type { Problems } from '../problems.ts';
import { didYouMean } from '../suggest.ts';
import { type Phase, type PhaseId, phaseById, type Target, type Workflow } from '../workflow.ts';
import { checkTimeouts } from './checkTimeouts.ts';

/** How often the target of an unbounded way back may be visited. */
export const DEFAULT_VISITS = 10;

/** Checks how phases lead to each other: entry, reachability, an end, bounded loops, no way around a gate. */
export function checkGraph(workflow: Workflow, problems: Problems): void {
  const position = new Map(workflow.phases.map((phase, index) => [phase.id, index]));
  if (workflow.phases.length === 0) return;
  if (!position.has(workflow.entry)) {
    const hint = didYouMean(
      String(workflow.entry),
      workflow.phases.map((phase) => String(phase.id)),
    );
    problems.error(
      ['entry'],
      'unknown_phase',
      `the workflow starts at \`${workflow.entry}\`, which is not defined${hint}`,
    );
    return;
  }
  const reached = reachable(workflow);
  workflow.phases.forEach((phase, index) => {
    const path = ['phases', index];
    if (!reached.has(phase.id)) {
      problems.error(
        path,
        'unreachable_phase',
        `phase \`${phase.id}\` cannot be reached from \`${workflow.entry}\``,
      );
    }
    noteUnboundedLoops(workflow, phase, index, problems);
    checkWayAroundGate(workflow, phase, index, problems);
  });
  checkTimeouts(workflow, problems);
  const ending = workflow.phases.filter(endsHere);
  // A way that leads nowhere yet may have been meant to lead there.
  const unknown = problems.has('unknown_phase');
  if (!ending.some(({ id }) => reached.has(id)) && !unknown) {
    const which = ending.length === 0 ? 'no phase' : 'no phase that can be reached';
    problems.error(['phases'], 'no_end', `${which} leads to the end: give one \`next: null\``);
  }
}

function reachable(workflow: Workflow): ReadonlySet<PhaseId> {
  const reached = new Set<PhaseId>([workflow.entry]);
  const open: PhaseId[] = [workflow.entry];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const phase = phaseById(workflow, id);
    for (const edge of phase ? edgesOf(phase) : []) {
      if (edge.to === null || reached.has(edge.to)) continue;
      reached.add(edge.to);
      open.push(edge.to);
    }
  }
  return reached;
}

function endsHere(phase: Phase): boolean {
  return edgesOf(phase).some((edge) => edge.to === null && edge.by !== 'option');
}

function noteUnboundedLoops(workflow: Workflow, phase: Phase, index: number, problems: Problems): void {
  for (const edge of edgesOf(phase)) {
    if (
      edge.by === 'option' ||
      edge.by === 'timeout' ||
      edge.max !== null ||
      !leadsBack(workflow, edge.from, edge.to)
    )
      continue;
    const message = `the way back from \`${phase.id}\` to \`${edge.to}\` has no \`maxIterations\`; it ends after ${DEFAULT_VISITS} visits of \`${edge.to}\``;
    problems.note(['phases', index, 'next'], 'unbounded_loop', message);
  }
}

/** `fail` skips evidence and gate, so it must not lead where only a human's yes may, also not when a loop is exhausted. */
function checkWayAroundGate(workflow: Workflow, phase: Phase, index: number, problems: Problems): void {
  const { humanGate, next } = phase;
  if (humanGate === null || next.kind !== 'outcomes') return;
  // The end is a way too, and is written `null`.
  const fail = Object.hasOwn(next.map, 'fail') ? next.map.fail : next.otherwise;
  if (fail === undefined) return;
  const chosen = humanGate.options.flatMap((option) =>
    option.next === undefined || approvalOf(workflow, phase, option) === 'no' ? [] : [option.next],
  );
  const guarded: readonly Target[] = [...chosen, ...okTargets(phase)];
  if (guarded.includes(fail)) {
    const message = `\`fail\` of phase \`${phase.id}\` leads where only its human gate may: to \`${fail}\``;
    problems.error(['phases', index, 'next', 'outcomes', 'fail'], 'way_around_gate', message);
  }
  const { onExhausted } = next;
  if (onExhausted === undefined || !leadsBack(workflow, phase.id, fail) || !guarded.includes(onExhausted))
    return;
  const message = `\`fail\` of phase \`${phase.id}\`, reported until its loop is exhausted, leads where only its human gate may: to \`${onExhausted}\``;
  problems.error(['phases', index, 'next', 'onExhausted'], 'way_around_gate', message);
}
