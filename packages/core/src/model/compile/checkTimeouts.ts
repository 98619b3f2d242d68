import { approvingTargets } from '../approval.ts';
import { type Edge, edgesOf } from '../edges.ts';
import type { Problems } from '../problems.ts';
import { type Phase, type PhaseId, phaseById, type Target, type Workflow } from '../workflow.ts';

/**
 * Nobody approves by waiting: where the time of a gate leads to a phase, neither must a yes lead there by itself, nor
 * must anything that a yes leads to be reached from there, unless another human decides on the way.
 */
export function checkTimeouts(workflow: Workflow, problems: Problems): void {
  workflow.phases.forEach((phase, index) => {
    const timeout = phase.humanGate?.timeout;
    if (timeout?.afterwards !== 'route') return;
    const approved = approvingTargets(workflow, phase);
    const told = waited(phase, timeout.to);
    const shared = approved.find((to) => to !== null && reachedAlone(workflow, to).has(timeout.to));
    const path = ['phases', index, 'gates'];
    if (shared !== undefined) {
      const message = `${told}, where its yes leads too, with no other human on the way: nobody approves by waiting`;
      problems.error(path, 'way_around_gate', message);
      return;
    }
    const reached = reachedAlone(workflow, timeout.to);
    const behind = approved.find((to) => reached.has(to));
    if (behind === undefined) return;
    const where = behind === null ? 'the end of the run' : `\`${behind}\``;
    const message = `${told}, and from there to ${where}, where only its yes may lead: put a human gate in between`;
    problems.error(path, 'way_around_gate', message);
  });
}

function waited({ id, humanGate }: Phase, to: PhaseId): string {
  return `when nobody decides at gate \`${humanGate?.id}\` in time, phase \`${id}\` leads to \`${to}\``;
}

/** All that is reached from a phase, it included, while no human chooses anything. */
function reachedAlone(workflow: Workflow, from: PhaseId): ReadonlySet<Target> {
  const reached = new Set<Target>([from]);
  const open: PhaseId[] = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const phase = phaseById(workflow, id);
    for (const { to } of phase === undefined ? [] : edgesOf(phase).filter(needsNobody(phase))) {
      if (reached.has(to)) continue;
      reached.add(to);
      if (to !== null) open.push(to);
    }
  }
  return reached;
}

/** Behind a human gate only what an agent reports as failed, a loop that is exhausted by that, and time. */
function needsNobody({ humanGate }: Phase): (edge: Edge) => boolean {
  if (humanGate === null) return () => true;
  return ({ by, label }) =>
    by === 'timeout' ||
    by === 'exhausted' ||
    (by === 'outcome' && (label === 'fail' || label === '_default'));
}
