import { type Json, type JsonObject, PhasegateError, type PhaseId, type Workflow } from '@phasegate/core';
import type { DefinedWorkflow } from '../defineWorkflow.ts';
import { type Domain, sizeOf } from './domain.ts';
import { extractSchema, type SchemaOptions, type StepSchema, stepOrder } from './extractSchema.ts';

/** One case: a step and all it is invoked with. */
export interface TestInput {
  /** Unique in the workflow: `workflow-step-params`. */
  readonly id: string;
  readonly step: PhaseId;
  /** With `step`, its place from 1, and `total_steps`. */
  readonly params: JsonObject & { readonly step: number; readonly total_steps: number };
}

/** How much may be generated, and from what. */
export interface GenerateOptions extends SchemaOptions {
  /** More cases than this are an error; left out: `MOST_CASES`. */
  readonly limit?: number;
}

/** How many cases a workflow may have where nothing is said. */
export const MOST_CASES = 10_000;

/** How many cases there are, without making them. */
export function countInputs(workflow: DefinedWorkflow | Workflow, options: SchemaOptions = {}): number {
  return Object.values(extractSchema(workflow, options)).reduce((sum, schema) => sum + productOf(schema), 0);
}

/** Every case of every step, one at a time. Throws at once where a domain has no end or there are too many. */
export function generateInputs(
  workflow: DefinedWorkflow | Workflow,
  options: GenerateOptions = {},
): IterableIterator<TestInput> {
  const schema = extractSchema(workflow, options);
  const limit = options.limit ?? MOST_CASES;
  const count = countInputs(workflow, options);
  if (count > limit) throw tooMany(schema, count, limit);
  const name = 'kind' in workflow ? workflow.draft.id : workflow.id;
  return inputsOf(name, stepOrder(workflow), schema);
}

function* inputsOf(
  workflow: string,
  order: readonly PhaseId[],
  schema: Readonly<Record<string, StepSchema>>,
): Generator<TestInput, undefined, undefined> {
  for (const step of order) {
    const domains = Object.hasOwn(schema, String(step)) ? schema[String(step)] : undefined;
    if (domains === undefined) continue;
    for (const params of productOver(Object.entries(domains))) {
      yield { id: idOf(workflow, step, params), step, params: params as TestInput['params'] };
    }
  }
}

function* productOver(domains: readonly (readonly [string, Domain])[]): Generator<JsonObject> {
  const [first, ...rest] = domains;
  if (first === undefined) {
    yield {};
    return;
  }
  const [name, domain] = first;
  for (const value of domain) {
    for (const others of productOver(rest)) yield { [name]: value, ...others };
  }
}

function productOf(schema: StepSchema): number {
  return Object.values(schema).reduce((product, domain) => product * sizeOf(domain), 1);
}

/** The step's place makes it unique whatever the step is called. */
function idOf(workflow: string, step: PhaseId, params: JsonObject): string {
  const { step: place, total_steps: _, ...rest } = params;
  const values = Object.entries(rest).map(([name, value]) => `${name}=${textOf(value)}`);
  return [`${workflow}-${place}.${step}`, ...(values.length === 0 ? [] : [values.join(',')])].join('-');
}

function textOf(value: Json): string {
  return typeof value === 'string' && /^[A-Za-z_][\w./-]*$/.test(value) && !isWord(value)
    ? value
    : JSON.stringify(value);
}

/** Text that would read as another kind of value keeps its quotes. */
function isWord(text: string): boolean {
  return text === 'true' || text === 'false' || text === 'null';
}

function tooMany(schema: Readonly<Record<string, StepSchema>>, count: number, limit: number): PhasegateError {
  const [step, domains] = Object.entries(schema).reduce((most, next) =>
    productOf(next[1]) > productOf(most[1]) ? next : most,
  );
  const sizes = Object.entries(domains)
    .filter(([, domain]) => sizeOf(domain) > 1)
    .map(([name, domain]) => `\`${name}\` ${sizeOf(domain)}`);
  const message = `there are ${count} cases, and the limit is ${limit}; step \`${step}\` has most: ${sizes.join(' x ')}`;
  return new PhasegateError('usage', message, {
    hint: 'narrow a domain, name fewer values for tests under `domains`, or read a param only in the steps that need it (`args`)',
  });
}
