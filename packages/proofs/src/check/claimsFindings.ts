import { type Check, edgesOf, type Phase, phaseById, type Workflow } from '@phasegate/core/model';
import type { Finding } from './report.ts';

/** Notes, as it may be meant: a way to the end, or gates, on which nothing but the agent's word counts. */
export function claimsFindings(
  workflow: Workflow,
  { whole }: { readonly whole: boolean },
): readonly Finding[] {
  // Of phases that are not known yet nobody can say who looks at them.
  const way = whole ? wayOnClaims(workflow) : [];
  const gates = workflow.phases.filter(
    (phase) => phase.blockers.length > 0 && !isLookedAt(phase) && !way.includes(phase),
  );
  return [
    ...(way.length === 0 ? [] : [finding(way, `a run gets from start to end by ${listed(way)} ${ALONE}`)]),
    ...(gates.length === 0 ? [] : [finding(gates, gateMessage(gates))]),
  ];
}

const ALONE =
  "on the agent's word alone: a `command`, a `files` check or a human would see for themselves" as const;

function gateMessage(gates: readonly Phase[]): string {
  return gates.length === 1
    ? `the gate of ${listed(gates)} rests ${ALONE}`
    : `the gates of ${listed(gates)} rest ${ALONE}`;
}

function listed(phases: readonly Phase[]): string {
  const few = phases.slice(0, MOST_NAMED).map(({ id }) => `\`${id}\``);
  const rest = phases.length - few.length;
  return `phase${phases.length === 1 ? '' : 's'} ${few.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

/** The finding holds them all, for programs. */
const MOST_NAMED = 10;

function finding(phases: readonly Phase[], message: string): Finding {
  return { code: 'claims_alone', severity: 'note', message, phases: phases.map(({ id }) => id), trace: [] };
}

/** The shortest way from the first phase to the end on which nobody looks; empty where every way has someone who does. */
function wayOnClaims(workflow: Workflow): readonly Phase[] {
  const first = phaseById(workflow, workflow.entry);
  if (first === undefined || isLookedAt(first)) return [];
  const before = new Map<Phase, Phase | null>([[first, null]]);
  for (const phase of before.keys()) {
    const targets = edgesOf(phase).map(({ to }) => to);
    if (targets.includes(null)) return stepsTo(phase, before);
    for (const to of targets) {
      const next = phaseById(workflow, to);
      if (next === undefined || before.has(next)) continue;
      // What is looked at on the way in is about the work of the phases before it.
      if (!isLookedAt(next) && next.preconditions.every(isClaimed)) before.set(next, phase);
    }
  }
  return [];
}

function stepsTo(last: Phase, before: ReadonlyMap<Phase, Phase | null>): readonly Phase[] {
  const steps: Phase[] = [];
  for (let phase: Phase | null = last; phase !== null; phase = before.get(phase) ?? null)
    steps.unshift(phase);
  return steps;
}

/** Whether a human decides about a phase, the engine looks at something, or no agent does its work. */
function isLookedAt({ blockers, postconditions, humanGate, work }: Phase): boolean {
  return (
    humanGate !== null ||
    (work.kind !== 'agent' && work.kind !== 'dispatch') ||
    ![...postconditions, ...blockers].every(isClaimed)
  );
}

/** A warning refuses nothing, no matter who looks. */
function isClaimed({ use, needs, recheck, severity }: Check): boolean {
  if (severity === 'warning') return true;
  return recheck !== true && needs === 'claimed' && use !== 'command' && use !== 'files';
}
