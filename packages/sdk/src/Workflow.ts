import type { PhaseId } from '@phasegate/core';
import { type DefinedWorkflow, defineWorkflow } from './defineWorkflow.ts';
import type { ParamDefinition, WorkflowDefinition, WorkflowStep } from './definition.ts';

/** What a `Workflow` may say beside its steps. */
export interface WorkflowOptions extends Omit<WorkflowDefinition, 'type' | 'name' | 'steps' | 'initialStep'> {
  /** What humans call it. */
  readonly title?: string;
  /** Left out: the first step. */
  readonly entryPoint?: PhaseId;
  readonly params?: Readonly<Record<string, ParamDefinition>>;
}

/** A step with an id: immutable, safe to share between workflows. */
export function StepDef<const T extends WorkflowStep>(step: T & { readonly id: PhaseId }): T {
  return Object.freeze({ ...step });
}

/** Puts steps together: `Workflow('review', StepDef({…}), StepDef({…}), { description: '…' })`. */
export function Workflow(
  name: string,
  ...parts: readonly (WorkflowStep | WorkflowOptions)[]
): DefinedWorkflow {
  const last = parts.at(-1);
  const options = last !== undefined && !isStep(last) ? (last as WorkflowOptions) : {};
  const steps = (options === last ? parts.slice(0, -1) : parts) as readonly WorkflowStep[];
  const { title, entryPoint, ...rest } = options;
  return defineWorkflow({
    ...rest,
    type: name,
    steps,
    ...(title === undefined ? {} : { name: title }),
    ...(entryPoint === undefined ? {} : { initialStep: entryPoint }),
  });
}

function isStep(part: WorkflowStep | WorkflowOptions): part is WorkflowStep {
  return typeof part !== 'object' || part === null || 'id' in part || 'name' in part;
}
