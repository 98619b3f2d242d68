import { approvingTargets } from '../approval.ts';
import { type Edge, edgesOf } from '../edges.ts';
import type { Problems } from '../problems.ts';
import { type Phase, type PhaseId, phaseById, type Target, type Workflow } from '../workflow.ts';

/**
 * Nobody approves by waiting: where the time of a gate leads to a phase, neither must a yes lead there by itself, nor
 * must anything that a yes leads to be reached from there, unless another human decides on the way.
 */
export function checkTimeouts(workflow: Workflow, problems: Problems): void {
  const reachedAlone = reaching(workflow);
  workflow.phases.forEach((phase, index) => {
    const timeout = phase.humanGate?.timeout;
    if (timeout?.afterwards !== 'route') return;
    const approved = approvingTargets(workflow, phase);
    const told = waited(phase, timeout.to);
    const shared = approved.find((to) => to !== null && reachedAlone(to).has(timeout.to));
    const path = ['phases', index, 'gates'];
    if (shared !== undefined) {
      const message = `${told}, where its yes leads too, with no other human on the way: nobody approves by waiting`;
      problems.error(path, 'way_around_gate', message);
      return;
    }
    const reached = reachedAlone(timeout.to);
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

/** All that is reached from a phase, it included, while no human chooses anything; each asked for is found once. */
function reaching(workflow: Workflow): (from: PhaseId) => ReadonlySet<Target> {
  const ways = new Map<PhaseId, readonly Target[]>();
  const waysFrom = (id: PhaseId) => {
    const known = ways.get(id);
    if (known !== undefined) return known;
    const phase = phaseById(workflow, id);
    const edges = phase === undefined ? [] : edgesOf(phase).filter(needsNobody(phase));
    const targets = [...new Set(edges.map(({ to }) => to))];
    ways.set(id, targets);
    return targets;
  };
  const found = new Map<PhaseId, ReadonlySet<Target>>();
  return (from) => {
    const known = found.get(from);
    if (known !== undefined) return known;
    const reached = new Set<Target>([from]);
    const open: PhaseId[] = [from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      for (const to of waysFrom(id)) {
        if (reached.has(to)) continue;
        reached.add(to);
        if (to !== null) open.push(to);
      }
    }
    found.set(from, reached);
    return reached;
  };
}

/** Behind a human gate only what an agent reports as failed, a loop that is exhausted by that, and time. */
function needsNobody({ humanGate }: Phase): (edge: Edge) => boolean {
  if (humanGate === null) return () => true;
  return ({ by, label }) =>
    by === 'timeout' ||
    by === 'exhausted' ||
    (by === 'outcome' && (label === 'fail' || label === '_default'));
}
