import type { Phase, Workflow } from '@phasegate/core/model';
import { pathsOf } from '@phasegate/core/model';
import { firstWithout } from './firstWithout.ts';
import type { Finding } from './report.ts';

type TraceTo = (phase: Phase) => readonly string[];

/** Roles that approve what they did themselves: in a later review, or as the only voices a human gate asks for. */
export function selfApprovals(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  return [...ownReviews(workflow, traceTo), ...ownGates(workflow, traceTo)];
}

/** A role reviews what it wrote itself, and no human looks at it in between or afterwards. */
function ownReviews(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  const findings: Finding[] = [];
  for (const phase of workflow.phases) {
    const role = roleOf(phase);
    if (role === null || phase.writes.length === 0 || phase.humanGate !== null) continue;
    const judge = firstWithout(workflow, phase, {
      stop: (candidate) => candidate.humanGate !== null,
      wanted: (candidate) => roleOf(candidate) === role && isReview(candidate),
    });
    if (judge === null || findings.some(({ phases }) => phases.includes(judge.id))) continue;
    const message = `\`${role}\` does the work of phase \`${phase.id}\` and approves it in phase \`${judge.id}\`, with no human in between: give one of them to another role`;
    findings.push(finding(message, [phase, judge], traceTo(judge)));
  }
  return findings;
}

/** A human gate whose approvers are roles that did the work, enough of them to decide by themselves. */
function ownGates(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  return workflow.phases.flatMap((phase): readonly Finding[] => {
    const gate = phase.humanGate;
    if (gate === null || gate.approvers.length === 0) return [];
    const workers = workflow.phases.filter((worker) => isJudgedAt(workflow, worker, phase));
    const roles = [...new Set(workers.flatMap((worker) => roleOf(worker) ?? []))].filter((role) =>
      gate.approvers.includes(role),
    );
    if (roles.length < gate.quorum) return [];
    const names = roles.map((role) => `\`${role}\``).join(' and ');
    const where = workers
      .filter((worker) => roles.includes(roleOf(worker) ?? ''))
      .map(({ id }) => `\`${id}\``)
      .join(' and ');
    const message = `${names} may approve at \`${gate.id}\` what was done by the same name in phase ${where}: take it out of \`approvers\``;
    return [finding(message, [phase], traceTo(phase))];
  });
}

/** Whether a phase's work is what is decided about: the gate's own phase, or one that wrote something on the way there. */
function isJudgedAt(workflow: Workflow, worker: Phase, gated: Phase): boolean {
  if (worker === gated) return true;
  if (worker.writes.length === 0 || worker.humanGate !== null) return false;
  const stop = (candidate: Phase) => candidate.humanGate !== null && candidate !== gated;
  return firstWithout(workflow, worker, { stop, wanted: (candidate) => candidate === gated }) !== null;
}

function finding(message: string, phases: readonly Phase[], trace: readonly string[]): Finding {
  return { code: 'self_approval', severity: 'error', message, phases: phases.map(({ id }) => id), trace };
}

function roleOf({ work }: Phase): string | null {
  return work.kind === 'dispatch' ? work.agent : null;
}

const REVIEWS = ['review_is_complete', 'all_review_models_completed', 'no_blocking_findings'];

function isReview(phase: Phase): boolean {
  const { next, evidence, postconditions, blockers, writes } = phase;
  const reviews = [...postconditions, ...blockers].filter(({ use }) => REVIEWS.includes(use));
  // One that writes may be fixing what another found; one that is asked for the review itself is reviewing.
  if (writes.length > 0)
    return reviews.some(({ with: { artifact = 'review' } }) =>
      evidence.artifacts.some(({ type }) => type === artifact),
    );
  if (reviews.length > 0) return true;
  if (next.kind !== 'when' || next.condition.kind !== 'expression') return false;
  const evidenceRoots = new Set(['result', ...evidence.artifacts.map(({ type }) => type)]);
  return pathsOf(next.condition.expression).some(({ root }) => evidenceRoots.has(root));
}
