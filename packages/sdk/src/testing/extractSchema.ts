import { PhasegateError, type PhaseId, type Workflow } from '@phasegate/core';
import { BoundedInt, Constant } from '@phasegate/core/model';
import type { DefinedWorkflow } from '../defineWorkflow.ts';
import { type Domain, within } from './domain.ts';
import { type Outline, type OutlinedStep, outlineOf } from './outlineOf.ts';

/** The domains of what a step is invoked with, by name; `step` and `total_steps` are always among them. */
export type StepSchema = Readonly<Record<string, Domain>>;

/** What a caller knows better than the workflow. */
export interface SchemaOptions {
  /** Stand instead of the domains the workflow declares, by the name of the param. */
  readonly domains?: Readonly<Record<string, Domain>>;
}

/** The names every invocation has beside the params. */
const RESERVED = ['step', 'total_steps', 'iteration'];

/** The ids of the steps in order: the first is `--step 1`. */
export function stepOrder(workflow: DefinedWorkflow | Workflow): readonly PhaseId[] {
  return outlineOf(workflow).steps.map(({ id }) => id);
}

/**
 * What each step can be invoked with, by its id as text. A step has its own args, the params no step has as its own,
 * and those that gate it; `iteration` only where its next map has ITERATE. Throws where a domain has no end.
 */
export function extractSchema(
  workflow: DefinedWorkflow | Workflow,
  options: SchemaOptions = {},
): Readonly<Record<string, StepSchema>> {
  const outline = outlineOf(workflow);
  const total = new Constant(outline.steps.length);
  return Object.fromEntries(
    outline.steps.flatMap((step, index) => {
      const schema = new Map<string, Domain>([
        ['step', new Constant(index + 1)],
        ['total_steps', total],
      ]);
      for (const name of paramsOf(outline, step)) {
        const domain = gated(step, name, domainNamed(name, outline, options));
        // No value of the param lets the step be entered, so there is nothing to invoke it with.
        if (domain === 'none') return [];
        if (domain === null) throw endless(name, step);
        schema.set(name, domain);
      }
      if (step.iterates) schema.set('iteration', iterationsOf(outline, step, options));
      return [[String(step.id), Object.fromEntries(schema)]];
    }),
  );
}

/** Own members only: a param may be called `constructor`. */
function domainNamed(name: string, outline: Outline, { domains = {} }: SchemaOptions): Domain | null {
  const from = Object.hasOwn(domains, name) ? domains : outline.domains;
  return (Object.hasOwn(from, name) ? from[name] : null) ?? null;
}

function paramsOf({ shared, domains }: Outline, step: OutlinedStep): readonly string[] {
  const names = new Set([...shared, ...step.args, ...Object.keys(step.onlyWhen)]);
  return Object.keys(domains).filter((name) => names.has(name) && !RESERVED.includes(name));
}

function gated({ onlyWhen }: OutlinedStep, name: string, domain: Domain | null): Domain | null | 'none' {
  const values = Object.hasOwn(onlyWhen, name) ? onlyWhen[name] : undefined;
  if (values === undefined || domain === null) return domain;
  return within(domain, values) ?? 'none';
}

function iterationsOf(outline: Outline, step: OutlinedStep, options: SchemaOptions): Domain {
  const declared = domainNamed('iteration', outline, options);
  if (declared !== null) return declared;
  if (step.maxIterations !== null) return new BoundedInt(1, step.maxIterations);
  throw new PhasegateError('usage', `step \`${step.id}\` iterates without end, so its cases have none`, {
    hint: 'give its `next` a `maxIterations`, or declare the param `iteration` with a `min` and a `max`',
  });
}

function endless(name: string, { id }: OutlinedStep): PhasegateError {
  const message = `param \`${name}\` of step \`${id}\` can be anything, so not every value of it can be tried`;
  return new PhasegateError('usage', message, {
    hint: `give \`${name}\` \`choices\`, a \`min\` and a \`max\`, or a \`constant\`; or name values for tests under \`domains\``,
  });
}
