import type { Json, PhaseId, Workflow } from '@phasegate/core';
import type { DefinedWorkflow } from '../defineWorkflow.ts';
import { type Domain, domainOfParam, readDomain } from './domain.ts';

/** What generation knows of a workflow, whichever way it was written. */
export interface Outline {
  readonly workflow: string;
  readonly steps: readonly OutlinedStep[];
  /** Of every param of the workflow; null where it has no end. */
  readonly domains: Readonly<Record<string, Domain | null>>;
  /** Params that no step has as its own: every step may read them. */
  readonly shared: readonly string[];
}

/** One step of it. */
export interface OutlinedStep {
  readonly id: PhaseId;
  readonly args: readonly string[];
  /** Its next map has ITERATE. */
  readonly iterates: boolean;
  readonly maxIterations: number | null;
  readonly onlyWhen: Readonly<Record<string, readonly Json[]>>;
}

/** Reads a workflow as an author's module has it, or as it was compiled. */
export function outlineOf(workflow: DefinedWorkflow | Workflow): Outline {
  const outline = 'kind' in workflow ? outlineOfDraft(workflow) : outlineOfWorkflow(workflow);
  const own = new Set(outline.steps.flatMap(({ args }) => args));
  return { ...outline, shared: Object.keys(outline.domains).filter((name) => !own.has(name)) };
}

function outlineOfDraft({ draft }: DefinedWorkflow): Omit<Outline, 'shared'> {
  return {
    workflow: draft.id,
    domains: mapValues(draft.params ?? {}, (param) => readDomain(param)),
    steps: draft.phases.map(({ id, args = [], onlyWhen = {}, next }) => ({
      id,
      args,
      onlyWhen,
      iterates: next !== undefined && 'outcomes' in next && next.outcomes.iterate !== undefined,
      maxIterations: (next !== undefined && 'outcomes' in next ? next.maxIterations : undefined) ?? null,
    })),
  };
}

function outlineOfWorkflow(workflow: Workflow): Omit<Outline, 'shared'> {
  return {
    workflow: workflow.id,
    domains: mapValues(workflow.params, (param) => domainOfParam(param)),
    steps: workflow.phases.map(({ id, args = [], onlyWhen = {}, next }) => ({
      id,
      args,
      onlyWhen,
      iterates: next.kind === 'outcomes' && next.map.iterate !== undefined,
      maxIterations: next.kind === 'outcomes' ? next.maxIterations : null,
    })),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, read: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, read(value)]));
}
