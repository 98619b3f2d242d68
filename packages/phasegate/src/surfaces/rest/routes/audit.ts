import { z } from '@hono/zod-openapi';
import { PAGE_LIMIT, WORD_LIMIT } from '@phasegate/wire';
import { auditPage, auditReport, numberInQuery, textUpTo } from '@phasegate/wire/schemas';
import { RequestRefused } from '../problem.ts';
import { auditPageAfter } from './auditPages.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { humanOf } from './principals.ts';
import { verifyFor } from './verifications.ts';

/** The audit: reading it, and checking its chains. */
export const AUDIT_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/audit',
    operationId: 'readAudit',
    tag: 'audit',
    who: ['human'],
    summary: 'Read the audit',
    description:
      'With `run` the chain of that run, with `chain` the one of the project, and `after` is a `seq`; without, all chains in the order they became durable, and `after` is an `id`. Oldest first. A page may end before `limit`, where its records are large: `next_after` alone says whether there are more.',
    query: z.strictObject({
      run: textUpTo(WORD_LIMIT).optional(),
      chain: z.literal('project').optional().openapi({ description: "the project's own chain alone" }),
      after: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER, preset: 0 }),
      limit: numberInQuery({ min: 1, max: PAGE_LIMIT, preset: 100 }),
    }),
    answers: { 200: { description: 'a page of records', schema: auditPage } },
    async handle({ caller, query, parts: { project } }) {
      const { run, chain, after, limit } = query;
      if (run !== undefined && chain !== undefined) {
        const message = 'excludes `run`';
        throw new RequestRefused('request_invalid', `\`chain\` ${message}`, {
          fields: [{ field: 'chain', message }],
        });
      }
      if (run === undefined && chain === undefined) {
        const { records, next } = await auditPageAfter(project.feed.after, { after, limit }, ({ id }) => id);
        return reply(200, { records, next_after: next });
      }
      const gate = project.as(humanOf(caller));
      const { records, next } = await auditPageAfter(
        (after, limit, reading) => gate.history(run ?? null, { after, limit, ...reading }),
        { after, limit },
        ({ seq }) => seq,
      );
      return reply(200, { records, next_after: next });
    },
  }),
  endpoint({
    method: 'get',
    path: '/audit/verify',
    operationId: 'verifyAudit',
    tag: 'audit',
    who: ['human'],
    summary: 'Check every chain',
    description:
      'Recomputes every hash, seal and the signed head. What is wrong is in `findings`; the answer is 200 either way. One is under way at a time: where too many wait, the answer is 429.',
    answers: { 200: { description: 'what was found', schema: auditReport } },
    async handle({ caller, parts }) {
      return reply(200, await verifyFor(caller.session.name, () => parts.project.verifyAudit()));
    },
  }),
];
