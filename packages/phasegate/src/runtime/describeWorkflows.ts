import { type JsonObject, type Param, PhasegateError } from '@phasegate/core';
import type { ParamDomain } from '@phasegate/core/model';
import type { Catalog, CatalogEntry, DescribedWorkflow } from './ports.ts';

/** What can be started, with its params. A definition that cannot be loaded is told with its problem. */
export async function describeWorkflows(
  catalog: Pick<Catalog, 'list' | 'load'>,
): Promise<readonly DescribedWorkflow[]> {
  const entries = await catalog.list();
  return Promise.all(entries.map((entry) => describeEntry(entry, catalog)));
}

/** A TypeScript workflow is only read, as a listing runs no code: what is not literal in it stays unsaid. */
async function describeEntry(
  entry: CatalogEntry,
  catalog: Pick<Catalog, 'load'>,
): Promise<DescribedWorkflow> {
  const { id, title } = entry;
  const peeked = { id, title, phases: entry.phases?.length ?? null };
  if (entry.format === 'typescript') return peeked;
  try {
    const { workflow } = await catalog.load(entry.path);
    const { description, params, phases, templates } = workflow;
    const more = templates === null ? {} : { dynamic: true };
    return { id, title, description, params: describeParams(params), phases: phases.length, ...more };
  } catch (error) {
    // The others are told all the same; what the system said stays here.
    if (!(error instanceof PhasegateError)) return { ...peeked, problem: 'the file cannot be loaded' };
    const [first] = error.problems;
    const place = first === undefined ? '' : ` (${first.file}:${first.line}: ${first.message})`;
    return { ...peeked, problem: `${error.message}${place}` };
  }
}

function describeParams(params: Readonly<Record<string, Param>>): JsonObject {
  return Object.fromEntries(Object.entries(params).map(([name, param]) => [name, describeParam(param)]));
}

function describeParam({ type, description, domain, required, default: preset }: Param): JsonObject {
  return {
    type,
    required,
    ...(description === '' ? {} : { description }),
    ...(domain === null ? {} : describeDomain(domain)),
    ...(preset === undefined ? {} : { default: preset }),
  };
}

function describeDomain(domain: ParamDomain): JsonObject {
  switch (domain.kind) {
    case 'choice_set':
      return { choices: domain.choices };
    case 'constant':
      return { constant: domain.value };
    case 'bounded_int':
      return { min: domain.lo, max: domain.hi };
    case 'range':
      return {
        ...(domain.min === null ? {} : { min: domain.min }),
        ...(domain.max === null ? {} : { max: domain.max }),
      };
  }
}
