import type { z } from '@hono/zod-openapi';
import { type JsonObject, type Param, type ParamDomain, PhasegateError } from '@phasegate/core';
import type { Catalog, CatalogEntry } from '../../../runtime/ports.ts';
import { workflowList } from '../schemas/records.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';

/** The workflows of the project. */
export const WORKFLOW_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/workflows',
    operationId: 'listWorkflows',
    tag: 'workflows',
    who: ['human', 'agent'],
    summary: 'List workflows',
    description:
      'Every definition found, with its parameters. A definition that cannot be loaded is listed with its `problem`; no code is run for a listing.',
    answers: { 200: { description: 'the workflows', schema: workflowList } },
    async handle({ parts }) {
      const entries = await parts.catalog.list();
      const workflows = await Promise.all(entries.map((entry) => describeEntry(entry, parts.catalog)));
      return reply(200, { workflows });
    },
  }),
];

type Line = z.infer<typeof workflowList>['workflows'][number];

/** A TypeScript workflow is only read, as a listing runs no code: what is not literal in it stays unsaid (C13). */
async function describeEntry(entry: CatalogEntry, catalog: Catalog): Promise<Line> {
  const { id, title } = entry;
  const peeked = { id, title, phases: entry.phases?.length ?? null };
  if (entry.format === 'typescript') return peeked;
  try {
    const { workflow } = await catalog.load(entry.path);
    const { description, params, phases, templates } = workflow;
    const more = templates === null ? {} : { dynamic: true };
    return { id, title, description, params: describeParams(params), phases: phases.length, ...more };
  } catch (error) {
    if (!(error instanceof PhasegateError)) throw error;
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
