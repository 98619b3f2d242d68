import { workflowList } from '@phasegate/wire/schemas';
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
      return reply(200, { workflows: [...(await parts.catalog.describe())] });
    },
  }),
];
