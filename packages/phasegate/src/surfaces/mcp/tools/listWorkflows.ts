import { type Json, type JsonObject, type Param, type ParamDomain, PhasegateError } from '@phasegate/core';
import type { Catalog, CatalogEntry } from '../../../runtime/ports.ts';
import { type McpTool, READING } from '../tool.ts';

/** `list_workflows`: what can be started. */
export const listWorkflows: McpTool = {
  name: 'list_workflows',
  title: 'List workflows',
  description: 'List the workflows of this project with their parameters. Start one with start_workflow.',
  input: {},
  required: [],
  output: {
    type: 'object',
    properties: {
      workflows: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            title: { type: 'string' },
            description: { type: 'string' },
            params: { type: 'object' },
            phases: { type: ['integer', 'null'], description: 'how many' },
            dynamic: { type: 'boolean', description: 'further phases come from a source when a run starts' },
            problem: { type: 'string' },
          },
          required: ['id', 'title', 'phases'],
        },
      },
    },
    required: ['workflows'],
  },
  annotations: READING,
  alwaysLoad: true,
  async call(_args, { catalog }) {
    const entries = await catalog.list();
    return { workflows: await Promise.all(entries.map((entry) => describeEntry(entry, catalog))) };
  },
};

/** A TypeScript workflow is only read, as a listing runs no code: what is not literal in it stays unsaid (C13). */
async function describeEntry(entry: CatalogEntry, catalog: Catalog): Promise<JsonObject> {
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
  const described: Record<string, Json> = { type, required };
  if (description !== '') described.description = description;
  if (domain !== null) Object.assign(described, describeDomain(domain));
  if (preset !== undefined) described.default = preset;
  return described;
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
