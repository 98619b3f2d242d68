import {
  approvingTargets,
  type Check,
  coveredBy,
  declaredNames,
  edgesOf,
  isOwned,
  type Phase,
  pathsOf,
  phaseById,
  type Workflow,
} from '@phasegate/core/model';
import { firstWithout } from './firstWithout.ts';
import { conditionOf } from './phaseConditions.ts';
import type { Finding } from './report.ts';

type TraceTo = (phase: Phase) => readonly string[];

/** Conditions on what a human approved that read what another phase can have put in its place. */
export function approvalFindings(workflow: Workflow, traceTo: TraceTo): readonly Finding[] {
  const findings: Finding[] = [];
  for (const gated of workflow.phases) {
    const covered = coveredBy(gated).filter((name) => !isOwned(workflow, name));
    for (const reader of workflow.phases) {
      if (reader === gated) continue;
      for (const { check, name, path } of readsOf(reader, covered)) {
        const other = replacerOf(workflow, { gated, reader, name });
        if (other === null || findings.some(({ phases }) => phases.at(-1) === reader.id)) continue;
        const message = `\`${check.label}\` of phase \`${reader.id}\` reads \`${path}\`, which a human approves at \`${gated.humanGate?.id}\` and phase \`${other.id}\` can replace afterwards: read \`approved.${name}\``;
        findings.push({
          code: 'approval_replaced',
          severity: 'error',
          message,
          phases: [gated.id, other.id, reader.id],
          trace: traceTo(reader),
        });
      }
    }
  }
  return findings;
}

/** Where conditions of a phase read one of these names as anybody last handed it in. Its routes read what was approved. */
function readsOf(
  phase: Phase,
  names: readonly string[],
): readonly { readonly check: Check; readonly name: string; readonly path: string }[] {
  const own = declaredNames(phase);
  const reads = (checks: readonly Check[], wanted: readonly string[]) =>
    checks.flatMap((check) => {
      const expression = check.use === 'expression' ? conditionOf(check) : null;
      if (expression === null) return [];
      return pathsOf(expression).flatMap(({ root, steps: [first] }) => {
        const name = String(first);
        const last = (root === 'artifacts' || root === 'checkpoint') && wanted.includes(name);
        return last ? [{ check, name, path: `${root}.${name}` }] : [];
      });
    });
  // While a phase is judged its own submission comes first, so there it is not about what was approved.
  const others = names.filter((name) => !own.includes(name));
  return [
    ...reads(phase.preconditions, names),
    ...reads([...phase.postconditions, ...phase.blockers], others),
  ];
}

/** A phase without a human that declares the name and lies between the gate's yes and what reads it. */
function replacerOf(
  workflow: Workflow,
  { gated, reader, name }: { readonly gated: Phase; readonly reader: Phase; readonly name: string },
): Phase | null {
  const again = (phase: Phase) => phase === gated;
  const after = approvingTargets(workflow, gated).flatMap((to) => phaseById(workflow, to) ?? []);
  const leads = (from: Phase, to: Phase) =>
    firstWithout(workflow, from, { stop: again, wanted: (phase) => phase === to }) !== null;
  const others = workflow.phases.filter(
    (phase) => phase !== gated && phase.humanGate === null && declaredNames(phase).includes(name),
  );
  return (
    others.find(
      (other) =>
        after.some((first) => first === other || (first !== gated && leads(first, other))) &&
        edgesOf(other).length > 0 &&
        leads(other, reader),
    ) ?? null
  );
}
