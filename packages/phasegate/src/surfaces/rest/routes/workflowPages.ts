import { z } from '@hono/zod-openapi';
import { PhasegateError } from '@phasegate/core';
import { encodeDefects, WORD_LIMIT } from '@phasegate/wire';
import { numberInQuery, textUpTo, workflowPage, workflowRecord } from '@phasegate/wire/schemas';
import { encodeWorkflowPage, recordOfPhases, type WorkflowPage } from '@phasegate/wire/watching';
import type { CatalogEntry } from '../../../runtime/ports.ts';
import type { RestParts } from '../parts.ts';
import { RequestRefused } from '../problem.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { breathe, searches } from './searches.ts';

const path = z.strictObject({
  id: textUpTo(WORD_LIMIT).openapi({ param: { name: 'id', in: 'path' }, example: 'tdd' }),
});

/** Of so many runs at most: each is read with all its records. */
const MOST_RUNS = 500;

/** One workflow: what it is, what is wrong with it, and how its runs fare. */
export const WORKFLOW_PAGE_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/workflows/{id}',
    operationId: 'getWorkflow',
    tag: 'workflows',
    who: ['human'],
    summary: 'One workflow',
    description:
      'Its graph, its phases with their tools and scopes, and every problem with its file, line and column. Of code that no human has accepted nothing is run: then `nodes` is empty and `unaccepted` true.',
    params: path,
    answers: { 200: { description: 'the workflow', schema: workflowPage } },
    async handle({ params, parts: { catalog } }) {
      const entry = (await catalog.list()).find(({ id }) => id === params.id);
      if (entry === undefined) {
        throw new PhasegateError('workflow_unknown', `there is no workflow \`${params.id}\``, {
          hint: '`GET /api/v1/workflows` lists them',
        });
      }
      return reply(200, await pageOf(catalog, entry));
    },
  }),
  endpoint({
    method: 'get',
    path: '/workflows/{id}/record',
    operationId: 'getWorkflowRecord',
    tag: 'workflows',
    who: ['human'],
    summary: 'How runs of a workflow fare',
    description: `Of its newest runs, phase by phase: how often it was entered, passed and refused, and how long it took.`,
    params: path,
    query: z.strictObject({ runs: numberInQuery({ min: 1, max: MOST_RUNS, preset: 50 }) }),
    answers: { 200: { description: 'the record', schema: workflowRecord } },
    async handle({ caller, params, query, parts: { project } }) {
      const record = recordOfPhases();
      const wanted = { workflow: params.id, limit: query.runs };
      await searches.act(caller.session.name, async () => {
        for await (const { run, records } of project.records.runs(wanted)) {
          record.add(run, records);
          await breathe();
        }
      });
      return reply(200, { workflow: params.id, ...record.answer() });
    },
  }),
];

async function pageOf(catalog: RestParts['catalog'], entry: CatalogEntry): Promise<WorkflowPage> {
  const { id, title, path: file, format } = entry;
  const { problems, unaccepted } = await catalog.validate([file]);
  const about = { id, title, path: file, format, problems: encodeDefects(problems) };
  if (unaccepted.length > 0) return { ...about, ...NOTHING, unaccepted: true };
  try {
    const { workflow, hash } = await catalog.load(file);
    return { ...about, ...encodeWorkflowPage(workflow), hash, unaccepted: false };
  } catch (error) {
    // What is wrong is among the problems.
    if (!(error instanceof PhasegateError) || error instanceof RequestRefused) throw error;
    return { ...about, ...NOTHING, unaccepted: false };
  }
}

const NOTHING = { description: '', hash: null, nodes: [], edges: [], phases: [] } as const;
