import type { Phase, PhaseId, Workflow } from '@phasegate/core';
import { declared, isCovered, RESERVED } from '../differential/names.ts';

/** Keys of a phase's free result that the workflow reads: where nobody else owns the name, or from the result itself. */
export function isNamed(workflow: Workflow, phase: Phase, key: string): boolean {
  if (readsResult(workflow, phase, key)) return true;
  const isOwned =
    RESERVED.test(key) ||
    Object.hasOwn(workflow.params, key) ||
    workflow.phases.some((one) => declared(one).includes(key));
  return !isOwned && workflow.phases.some((one) => reads(one, key));
}

/** Whether every reader of a name reads what a human approved, so that what this phase hands in changes nothing. */
export function isApprovedEverywhere(workflow: Workflow, phase: Phase, key: string): boolean {
  if (readsResult(workflow, phase, key) || sourceOf(phase).includes(`.${key}`)) return false;
  return workflow.phases.every((one) => !reads(one, key) || isCovered(workflow, one, key));
}

function readsResult({ phases }: Workflow, phase: Phase, key: string): boolean {
  if (has(sourceOf(phase), `result.${key}`)) return true;
  return phases.some((one) => has(sourceOf(one), `checkpoint.results.${phase.id}.${key}`));
}

function reads(phase: Phase, key: string): boolean {
  const paths = [...(phase.humanGate?.context ?? []), ...(phase.parallel ? [phase.parallel.key] : [])];
  const source = sourceOf(phase);
  return (
    paths.some((path) => path.split('.')[0] === key) ||
    has(source, `checkpoint.${key}`) ||
    has(source, `artifacts.${key}`)
  );
}

function sourceOf({ next }: Phase): string {
  return next.kind === 'when' ? next.condition.source : '';
}

function has(source: string, path: string): boolean {
  return source.startsWith(`${path} `) || source.startsWith(`${path}.`);
}

/** The phase of that id. */
export function phaseIn(workflow: Workflow, id: PhaseId | null): Phase | undefined {
  return workflow.phases.find((phase) => phase.id === id);
}
