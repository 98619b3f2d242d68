import { z } from '@hono/zod-openapi';
import { type AuditRecord, canonicalJson } from '@phasegate/core';
import { withoutRecording } from '@phasegate/core/engine';
import { PAGE_LIMIT, WORD_LIMIT } from '@phasegate/wire';
import { auditFound, numberInQuery, textUpTo } from '@phasegate/wire/schemas';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { humanOf } from './principals.ts';
import { breathe, searches, WINDOW } from './searches.ts';

/** A record and the number by which it is paged. */
interface Placed {
  readonly at: number;
  readonly record: AuditRecord;
}

/** Records by their numbers: of one chain, or of the feed of all. */
interface Shelf {
  newest(): Promise<number>;
  /** Those after a number, oldest first. */
  after(at: number, limit: number): Promise<readonly Placed[]>;
}

/** So many records are looked through for one answer; the next answer goes on behind them. */
const MOST_SEARCHED = 20_000;

/** Looking for records, the newest first. */
export const AUDIT_SEARCH_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/audit/search',
    operationId: 'searchAudit',
    tag: 'audit',
    who: ['human'],
    summary: 'Look for records, newest first',
    description: `Of all chains, or of one \`run\`. One answer looks through at most ${MOST_SEARCHED} records; \`next_before\` leads on, also where nothing was found among them. Records come without what decisions were made from.`,
    query: z.strictObject({
      run: textUpTo(WORD_LIMIT).optional(),
      event: textUpTo(WORD_LIMIT).optional().openapi({ description: 'names of events, separated by commas' }),
      principal: textUpTo(WORD_LIMIT)
        .optional()
        .openapi({ description: 'as the audit names it, e.g. `agent:ada`' }),
      search: textUpTo(WORD_LIMIT).optional().openapi({ description: 'words anywhere in a record' }),
      before: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER, preset: 0 }),
      limit: numberInQuery({ min: 1, max: PAGE_LIMIT, preset: 100 }),
    }),
    answers: { 200: { description: 'what was found', schema: auditFound } },
    async handle({ caller, query, parts: { project } }) {
      const { run, before, limit } = query;
      const history = project.as(humanOf(caller)).history;
      const shelf: Shelf =
        run === undefined
          ? {
              newest: () => project.feed.newest(),
              after: async (at, most) =>
                (await project.feed.after(at, most)).map((record) => ({ at: record.id, record })),
            }
          : chainOf((after, most) => history(run, { after, limit: most }));
      const look = async () => {
        const newest = (await shelf.newest()) + 1;
        // From behind the newest there would be nothing to look through, for as long as one likes.
        const end = before === 0 ? newest : Math.min(before, newest);
        return lookThrough(shelf, { end, limit, isWanted: wantedBy(query) });
      };
      return reply(200, await searches.act(caller.session.name, look));
    },
  }),
];

async function lookThrough(
  shelf: Shelf,
  asked: { readonly end: number; readonly limit: number; isWanted(record: AuditRecord): boolean },
): Promise<{ records: AuditRecord[]; next_before: number | null; searched: number }> {
  const records: AuditRecord[] = [];
  // Where every record is wanted, no more are read than are answered.
  const window = asked.isWanted === ANY ? Math.min(WINDOW, asked.limit) : WINDOW;
  let { end } = asked;
  let searched = 0;
  // Numbers that have no record any more count: looking at nothing takes its time, too.
  for (let looked = 0; end > 1 && looked < MOST_SEARCHED; looked += window) {
    const start = Math.max(0, end - 1 - window);
    const found = (await shelf.after(start, window)).filter(({ at }) => at < end);
    for (const { at, record } of found.toReversed()) {
      searched += 1;
      end = at;
      if (!asked.isWanted(record)) continue;
      records.push(shownTo(record));
      if (records.length === asked.limit) return { records, next_before: end > 1 ? end : null, searched };
    }
    end = start + 1;
    await breathe();
  }
  return { records, next_before: end > 1 ? end : null, searched };
}

/** A human sees what a call was judged by; a stream that goes elsewhere does not have it. */
function shownTo(record: AuditRecord): AuditRecord {
  return record.event === 'tool_judged' ? record : withoutRecording(record);
}

const ANY = () => true;

function wantedBy(query: {
  readonly event?: string | undefined;
  readonly principal?: string | undefined;
  readonly search?: string | undefined;
}): (record: AuditRecord) => boolean {
  const events = query.event === undefined ? null : new Set(query.event.split(','));
  const words = query.search?.toLowerCase();
  if (events === null && query.principal === undefined && words === undefined) return ANY;
  return (record) => {
    if (events !== null && !events.has(record.event)) return false;
    if (query.principal !== undefined && record.principal !== query.principal) return false;
    if (words === undefined) return true;
    const { run, principal, event, data } = record;
    return `${run} ${principal} ${event} ${canonicalJson(data)}`.toLowerCase().includes(words);
  };
}

/** A chain has no gaps, so where it ends is found by a few looks, however long it is. */
function chainOf(read: (after: number, limit: number) => Promise<readonly AuditRecord[]>): Shelf {
  const isThere = async (seq: number) => (await read(seq - 1, 1)).length > 0;
  return {
    async newest() {
      let there = 0;
      let gone = 1;
      while (await isThere(gone)) {
        there = gone;
        gone *= 2;
      }
      while (gone - there > 1) {
        const middle = Math.floor((there + gone) / 2);
        if (await isThere(middle)) there = middle;
        else gone = middle;
      }
      return there;
    },
    after: async (at, limit) => (await read(at, limit)).map((record) => ({ at: record.seq, record })),
  };
}
