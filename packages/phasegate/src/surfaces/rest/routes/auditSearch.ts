import { z } from '@hono/zod-openapi';
import { type AuditRecord, canonicalJson } from '@phasegate/core';
import { withoutRecording } from '@phasegate/core/engine';
import { PAGE_LIMIT, WORD_LIMIT } from '@phasegate/wire';
import { auditFound, numberInQuery, textUpTo } from '@phasegate/wire/schemas';
import type { Reading } from '../../../runtime/ports.ts';
import { MOST_DATA, type ReadAfter } from './auditPages.ts';
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
  after(at: number, limit: number, reading: Reading): Promise<readonly Placed[]>;
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
    description: `Of all chains, or of one \`run\`. One answer looks through at most ${MOST_SEARCHED} records, and fewer where they are large; \`next_before\` leads on, also where nothing was found among them. Records come without what decisions were made from.`,
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
              after: async (at, most, reading) =>
                (await project.feed.after(at, most, reading)).map((record) => ({ at: record.id, record })),
            }
          : chainOf((after, most, reading) => history(run, { after, limit: most, ...reading }));
      const look = async () => {
        const newest = (await shelf.newest()) + 1;
        // From behind the newest there would be nothing to look through, for as long as one likes.
        const end = before === 0 ? newest : Math.min(before, newest);
        return lookThrough(shelf, {
          end,
          limit,
          isWanted: wantedBy(query),
          words: query.search !== undefined,
        });
      };
      return reply(200, await searches.act(caller.session.name, look));
    },
  }),
];

async function lookThrough(
  shelf: Shelf,
  asked: {
    readonly end: number;
    readonly limit: number;
    /** Whether words are looked for: they may be in a large value. */
    readonly words: boolean;
    isWanted(record: AuditRecord): boolean;
  },
): Promise<{ records: AuditRecord[]; next_before: number | null; searched: number }> {
  const records: AuditRecord[] = [];
  // Where every record is wanted, no more are read than are answered.
  const widest = asked.isWanted === ANY ? Math.min(WINDOW, asked.limit) : WINDOW;
  const windows = windowsOf(shelf, { widest, ...(asked.words ? {} : { values: 'left_out' }) });
  let { end } = asked;
  let [searched, length] = [0, 0];
  // Numbers that have no record any more count: looking at nothing takes its time, too.
  for (let looked = 0; end > 1 && looked < MOST_SEARCHED && windows.mayRead(); ) {
    const { start, found } = await windows.before(end);
    looked += end - 1 - start;
    for (const { at, record } of found.toReversed()) {
      if (asked.isWanted(record)) {
        const shown = await wholeOf(shelf, { at, record: shownTo(record) });
        length += JSON.stringify(shown).length;
        if (length > MOST_DATA && records.length > 0) return { records, next_before: end, searched };
        records.push(shown);
      }
      searched += 1;
      end = at;
      if (records.length === asked.limit) return { records, next_before: end > 1 ? end : null, searched };
    }
    end = start + 1;
    await breathe();
  }
  return { records, next_before: end > 1 ? end : null, searched };
}

interface Windows {
  /** Records before a number, and the number behind which all of them are. */
  before(end: number): Promise<{ readonly start: number; readonly found: readonly Placed[] }>;
  /** Whether not so much was read yet that the next answer had better go on. */
  mayRead(): boolean;
}

/** Reads records from the newest on. Where they are large, fewer are read at once. */
function windowsOf(shelf: Shelf, { widest, ...values }: { readonly widest: number } & Reading): Windows {
  let window = widest;
  let heavy = 0;
  return {
    async before(end) {
      for (;;) {
        const start = Math.max(0, end - 1 - window);
        const page = await shelf.after(start, window, { ...values, most: MOST_DATA });
        if (window < widest) heavy += 1;
        // A page that ended early lacks the newest of them, with which looking begins.
        if (window === 1 || page.length >= window || (page.at(-1)?.at ?? end) >= end - 1) {
          window = Math.min(widest, window * 2);
          return { start, found: page.filter(({ at }) => at < end) };
        }
        window = Math.max(1, Math.min(page.length, Math.floor(window / 2)));
        await breathe();
      }
    },
    mayRead: () => heavy < MOST_HEAVY,
  };
}

/** Reads of large records, for one answer. */
const MOST_HEAVY = 40;

/** A record that is shown has its large values, where any of them is shown. */
async function wholeOf(shelf: Shelf, { at, record }: Placed): Promise<AuditRecord> {
  if (!JSON.stringify(record.data).includes('"left_out":{"sha256":"')) return record;
  const [whole] = await shelf.after(at - 1, 1, {});
  return whole?.at === at ? shownTo(whole.record) : record;
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
function chainOf(read: ReadAfter<AuditRecord>): Shelf {
  const isThere = async (seq: number) => (await read(seq - 1, 1, { values: 'left_out' })).length > 0;
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
    after: async (at, limit, reading) =>
      (await read(at, limit, reading)).map((record) => ({ at: record.seq, record })),
  };
}
