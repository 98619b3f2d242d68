import { z } from '@hono/zod-openapi';
import { maskedUrl } from '@phasegate/core/model';
import { encodeWebhook, WORD_LIMIT } from '@phasegate/wire';
import { actRequest, textUpTo, webhookList, webhookRequest, webhookSecret } from '@phasegate/wire/schemas';
import { isAdmin } from '../isAdmin.ts';
import { RequestRefused } from '../problem.ts';
import { type Endpoint, empty, endpoint, reply } from './endpoint.ts';

/** Addresses that are told what happens. */
export const WEBHOOK_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/webhooks',
    operationId: 'listWebhooks',
    tag: 'webhooks',
    who: ['human'],
    summary: 'List webhooks',
    description:
      'With how far the deliveries of each are. Secrets are not shown again, and paths of addresses, which often are secrets too, to admins alone.',
    answers: { 200: { description: 'the webhooks', schema: webhookList } },
    async handle({ caller, parts: { project } }) {
      const found = (await project.webhooks.list()).map(encodeWebhook);
      if (await isAdmin(project, caller.session)) return reply(200, { webhooks: found });
      return reply(200, { webhooks: found.map((one) => ({ ...one, url: maskedUrl(one.url) })) });
    },
  }),
  endpoint({
    method: 'post',
    path: '/webhooks',
    operationId: 'addWebhook',
    tag: 'webhooks',
    who: ['human'],
    summary: 'Add a webhook',
    description: 'What is sent is signed with the secret of this answer, which is shown this once.',
    body: webhookRequest,
    answers: { 201: { description: 'the webhook and its secret', schema: webhookSecret } },
    async handle({ caller, body, parts }) {
      const { id, url, events, secret, addedAt } = await parts.project.webhooks.add(body.url, {
        events: body.events ?? [],
        by: caller.session.human,
      });
      return reply(201, { id, url, events, secret, added_at: addedAt });
    },
  }),
  endpoint({
    method: 'delete',
    path: '/webhooks/{id}',
    operationId: 'removeWebhook',
    tag: 'webhooks',
    who: ['human'],
    summary: 'Remove a webhook',
    description: 'Nothing more is sent to it.',
    params: z.strictObject({
      id: textUpTo(WORD_LIMIT).openapi({ param: { name: 'id', in: 'path' }, example: 'w1' }),
    }),
    body: actRequest,
    answers: { 204: { description: 'the webhook is gone' } },
    async handle({ caller, params, parts }) {
      const { webhooks } = parts.project;
      if (!(await webhooks.list()).some(({ id }) => id === params.id)) {
        throw new RequestRefused('usage', `there is no webhook \`${params.id}\``, { status: 404 });
      }
      await webhooks.remove(params.id, caller.session.human);
      return empty(204);
    },
  }),
];
