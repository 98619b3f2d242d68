import { z } from '@hono/zod-openapi';
import type { AuditRecord } from '@phasegate/core';
import { PAGE_LIMIT, WORD_LIMIT } from '@phasegate/wire';
import { auditRecord, textUpTo } from '@phasegate/wire/schemas';
import { type Endpoint, endpoint } from './endpoint.ts';
import { humanOf } from './principals.ts';

/** All of the audit as a file. */
export const AUDIT_EXPORT_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/audit/export',
    operationId: 'exportAudit',
    tag: 'audit',
    who: ['human'],
    summary: 'The audit as a file',
    description:
      'One record on each line, as JSON, oldest first: of one `run`, or of all chains in the order they became durable. It is what `phasegate audit export` writes.',
    query: z.strictObject({ run: textUpTo(WORD_LIMIT).optional() }),
    answers: { 200: { description: 'the records', schema: auditRecord } },
    async handle({ caller, query, parts: { project } }) {
      const { run } = query;
      const human = project.as(humanOf(caller));
      // Whether there is such a run is said before the file begins.
      if (run !== undefined) await human.view(run);
      const pageAfter = async (after: number): Promise<readonly [number, AuditRecord][]> => {
        if (run === undefined) {
          const records = await project.feed.after(after, PAGE_LIMIT);
          return records.map(({ id, ...record }) => [id, record]);
        }
        const records = await human.history(run, { after, limit: PAGE_LIMIT });
        return records.map((record) => [record.seq, record]);
      };
      return new Response(linesOf(pageAfter), {
        headers: {
          'content-type': 'application/x-ndjson',
          'content-disposition': 'attachment; filename="phasegate-audit.jsonl"',
        },
      });
    },
  }),
];

/** Page by page, and only as fast as it is read. */
function linesOf(pageAfter: (after: number) => Promise<readonly [number, AuditRecord][]>): ReadableStream {
  const encoder = new TextEncoder();
  let after = 0;
  return new ReadableStream({
    async pull(controller) {
      const page = await pageAfter(after);
      const last = page.at(-1);
      if (last === undefined) return controller.close();
      [after] = last;
      controller.enqueue(encoder.encode(page.map(([, record]) => `${JSON.stringify(record)}\n`).join('')));
    },
  });
}
