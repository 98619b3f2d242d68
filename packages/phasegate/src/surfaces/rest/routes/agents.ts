import { z } from '@hono/zod-openapi';
import { encodeAgent, encodeLease } from '@phasegate/wire';
import { actRequest, agentKey, agentList, agentName, agentRequest } from '@phasegate/wire/schemas';
import { type Endpoint, empty, endpoint, reply } from './endpoint.ts';

/** Agents and their keys. */
export const AGENT_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/agents',
    operationId: 'listAgents',
    tag: 'agents',
    who: ['human'],
    summary: 'List agents',
    description: 'With the leases each of them holds.',
    answers: { 200: { description: 'the agents', schema: agentList } },
    async handle({ parts: { project } }) {
      const leases = (await project.claims.leases()).map(encodeLease);
      const agents = (await project.agents.list()).map((agent) => encodeAgent(agent, leases));
      return reply(200, { agents, leases });
    },
  }),
  endpoint({
    method: 'post',
    path: '/agents',
    operationId: 'addAgent',
    tag: 'agents',
    who: ['human'],
    summary: 'Make a key for an agent',
    description:
      'The key is in this answer and nowhere else. An agent of that name gets a new key: what it holds goes back to the queue, and its tokens are dead at once.',
    body: agentRequest,
    answers: { 201: { description: 'the key, shown this once', schema: agentKey } },
    async handle({ caller, body, parts }) {
      const { name, key } = await parts.project.agents.add(body.name, {
        by: caller.session.human,
        ...(body.capabilities === undefined ? {} : { capabilities: body.capabilities }),
        ...(body.mine === undefined ? {} : { mine: body.mine }),
      });
      return reply(201, { name, key });
    },
  }),
  endpoint({
    method: 'delete',
    path: '/agents/{name}',
    operationId: 'removeAgent',
    tag: 'agents',
    who: ['human'],
    summary: "Withdraw an agent's key",
    description: 'What it holds goes back to the queue, and its tokens are dead at once.',
    params: z.strictObject({ name: agentName.openapi({ param: { name: 'name', in: 'path' } }) }),
    body: actRequest,
    answers: { 204: { description: 'the key is withdrawn' } },
    async handle({ caller, params, parts }) {
      await parts.project.agents.remove(params.name, caller.session.human);
      return empty(204);
    },
  }),
];
