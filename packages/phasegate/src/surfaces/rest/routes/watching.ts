import { z } from '@hono/zod-openapi';
import type { Principal } from '@phasegate/core';
import { RUN_STATUSES, UNFINISHED_STATUSES } from '@phasegate/core/contract';
import { TEXT_LIMIT } from '@phasegate/wire';
import {
  activity,
  inbox,
  numberInQuery,
  runCounts,
  runGlances,
  runMap,
  runPath,
  textUpTo,
} from '@phasegate/wire/schemas';
import {
  encodeActivity,
  encodeGlance,
  encodeInboxItem,
  encodeRunMap,
  type InboxItem,
  type RunGlance,
} from '@phasegate/wire/watching';
import { createPaced } from '../../../limits/paced.ts';
import type { FeedRecord, RunsOf, Serving } from '../../../runtime/ports.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { mapEvidence } from './mapEvidence.ts';
import { humanOf } from './principals.ts';
import { breathe, breathing, searches, WINDOW } from './searches.ts';

/** As many as a screen shows. */
const MOST_GLANCES = 100;
/** Enough for an afternoon of a few agents; more would be read for every look. */
const MOST_ACTIVITY = 5000;
/** So many runs of each status are looked through for one answer. */
const MOST_WAITING = 200;

/** What a human who watches over a project needs beside the runs themselves. */
export const WATCHING_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/state/counts',
    operationId: 'countRuns',
    tag: 'state',
    who: ['human'],
    summary: 'How many runs there are',
    description: 'By status.',
    answers: { 200: { description: 'the numbers', schema: runCounts } },
    async handle({ parts: { project } }) {
      const counts = await project.countRuns();
      return reply(200, { runs: Object.fromEntries(RUN_STATUSES.map((one) => [one, counts[one] ?? 0])) });
    },
  }),
  endpoint({
    method: 'get',
    path: '/state/inbox',
    operationId: 'getInbox',
    tag: 'state',
    who: ['human'],
    summary: 'What waits for a human',
    description: `Open gates, questions, escalations, and changes outside a scope that refused a phase. Runs are looked through from the oldest on, ${MOST_WAITING} of each status for one answer; \`next_skip\` leads on to newer ones, also where nothing was found among them.`,
    query: z.strictObject({
      skip: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER, preset: 0 }).openapi({
        description: 'how many of the oldest runs of each status are passed over',
      }),
    }),
    answers: { 200: { description: 'what waits, the oldest first', schema: inbox } },
    async handle({ caller, query, parts: { project } }) {
      const look = () => inboxOf(humanOf(caller), project, query.skip);
      return reply(200, await inboxes.act(caller.session.name, look));
    },
  }),
  endpoint({
    method: 'get',
    path: '/state/runs',
    operationId: 'glanceAtRuns',
    tag: 'state',
    who: ['human'],
    summary: 'What a list says of runs beside their lines',
    description: `Ring, attempts and the newest verdict of at most ${MOST_GLANCES} runs. One that cannot be read is left out.`,
    query: z.strictObject({
      ids: textUpTo(TEXT_LIMIT).openapi({ description: 'ids of runs, one on each line' }),
    }),
    answers: { 200: { description: 'those that can be read', schema: runGlances } },
    async handle({ caller, query, parts: { project } }) {
      const ids = query.ids.split('\n').slice(0, MOST_GLANCES);
      const look = async () => {
        const runs: RunGlance[] = [];
        const pause = breathing();
        for (const id of ids) {
          await pause();
          const glance = await project.load(id).then(encodeGlance, () => null);
          if (glance !== null) runs.push(glance);
        }
        return runs;
      };
      return reply(200, { runs: await glances.act(caller.session.name, look) });
    },
  }),
  endpoint({
    method: 'get',
    path: '/state/activity',
    operationId: 'getActivity',
    tag: 'state',
    who: ['human'],
    summary: 'What agents did of late',
    description: `Calls and denials of each agent, and denials by rule, in the newest ${MOST_ACTIVITY} records.`,
    answers: { 200: { description: 'the sum of it', schema: activity } },
    async handle({ caller, parts: { project } }) {
      const records = await searches.act(caller.session.name, () => newestRecords(project.feed));
      return reply(200, encodeActivity(records));
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{id}/map',
    operationId: 'getRunMap',
    tag: 'runs',
    who: ['human'],
    summary: "A run's way through its workflow",
    description:
      'Every phase with where the run stands with it, the ways it took, what was handed in and decided, and what the current phase may use and write. Where more than 256 KB was handed in, values over 1 KB of older phases have their hash and size in `left_out` in their place.',
    params: runPath,
    answers: { 200: { description: 'the map', schema: runMap } },
    async handle({ caller, params, parts: { project } }) {
      // Whether the caller may see the run at all.
      await project.look(params.id, humanOf(caller));
      const run = await project.load(params.id);
      return reply(200, encodeRunMap(run, await mapEvidence(run.completions)));
    },
  }),
];

/** Read bit by bit: agents are answered in between. */
async function newestRecords(feed: Serving['feed']): Promise<readonly FeedRecord[]> {
  const newest = await feed.newest();
  const records: FeedRecord[] = [];
  for (let after = Math.max(0, newest - MOST_ACTIVITY); after < newest; after += WINDOW) {
    // Past the window only where numbers are missing; those come with the next.
    const found = await feed.after(after, WINDOW, { values: 'left_out' });
    records.push(...found.filter(({ id }) => id <= after + WINDOW));
    await breathe();
  }
  return records;
}

/** Each reads many whole runs. */
const glances = createPaced({ what: 'looks at runs', waiting: 16 });

/** Each human looks once at a time: a page asks again whenever something happens. */
const inboxes = createPaced({ what: 'looks at what waits', waiting: 16 });

/**
 * Looked at and not opened: who only watches renews no lease and closes no gate. From the oldest on: nobody can push
 * what waits off the list by starting more.
 */
async function inboxOf(
  human: Principal,
  project: RunsOf,
  skip: number,
): Promise<{ items: InboxItem[]; next_skip: number | null }> {
  const counts = await project.countRuns();
  const lists = await Promise.all(
    UNFINISHED_STATUSES.map(async (status) => {
      const left = (counts[status] ?? 0) - skip;
      if (left <= 0) return [];
      const offset = Math.max(0, left - MOST_WAITING);
      // The first page goes to the very end: a run that was added meanwhile pushes none behind it.
      const limit = skip === 0 ? {} : { limit: left - offset };
      return project.as(human).runs({ status, offset, ...limit });
    }),
  );
  const items: InboxItem[] = [];
  const pause = breathing();
  for (const { run } of lists.flatMap((list) => list.toReversed())) {
    await pause();
    const view = await project.look(run, human).catch(() => null);
    const item = view === null ? null : encodeInboxItem(view);
    if (item !== null) items.push(item);
  }
  const isMore = UNFINISHED_STATUSES.some((status) => (counts[status] ?? 0) > skip + MOST_WAITING);
  return {
    items: items.sort((one, other) => (one.since < other.since ? -1 : one.since > other.since ? 1 : 0)),
    next_skip: isMore ? skip + MOST_WAITING : null,
  };
}
