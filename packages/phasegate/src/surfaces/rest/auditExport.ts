import type { AuditRecord } from '@phasegate/core';
import type { Hono } from 'hono';
import { createTurns } from '../../limits/turns.ts';
import { humanOf } from './callers.ts';
import type { RestEnv, RestParts } from './parts.ts';
import { MOST_DATA } from './routes/auditPages.ts';
import { breathe, WINDOW } from './routes/searches.ts';

/** Registers the audit as a file: one record on each line, page by page and only as fast as it is read. */
export function registerAuditExport(app: Hono<RestEnv>, { project }: Pick<RestParts, 'project'>): void {
  app.get('/api/v1/audit/export', async (c) => {
    const human = project.as({ kind: 'human', name: humanOf(c).name });
    const run = c.req.query('run');
    // Whether there is such a run is said before the file begins.
    if (run !== undefined) await human.view(run);
    const headers = {
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="phasegate-audit.jsonl"',
    };
    // Nobody reads the body of such a request, so nothing would ever give its turn back.
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    const end = await taken.take(humanOf(c).name);
    const pageAfter = async (after: number): Promise<Page> => {
      if (run === undefined) {
        return (await project.feed.after(after, WINDOW, ONE_PAGE)).map(({ id, ...record }) => [id, record]);
      }
      return (await human.history(run, { after, limit: WINDOW, ...ONE_PAGE })).map((record) => [
        record.seq,
        record,
      ]);
    };
    return new Response(linesOf(pageAfter, end), { headers });
  });
}

const ONE_PAGE = { most: MOST_DATA };

type Page = readonly (readonly [number, AuditRecord])[];

/** Each human takes along so many files at a time. */
const taken = createTurns({ what: 'exports of the audit', atOnce: 2, waiting: 2 });

function linesOf(pageAfter: (after: number) => Promise<Page>, end: () => void): ReadableStream {
  const encoder = new TextEncoder();
  let after = 0;
  return new ReadableStream({
    async pull(controller) {
      await breathe();
      const page = await pageAfter(after).catch((error: unknown) => {
        end();
        throw error;
      });
      const last = page.at(-1);
      if (last === undefined) {
        end();
        return controller.close();
      }
      [after] = last;
      controller.enqueue(encoder.encode(page.map(([, record]) => `${JSON.stringify(record)}\n`).join('')));
    },
    cancel: end,
  });
}
