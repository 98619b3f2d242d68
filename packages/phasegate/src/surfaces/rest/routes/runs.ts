import { z } from '@hono/zod-openapi';
import { canonicalJson, type JsonObject, type RunSummary } from '@phasegate/core';
import {
  encodeLine,
  encodeNotStarted,
  encodeRun,
  encodeStarted,
  PAGE_LIMIT,
  WORD_LIMIT,
} from '@phasegate/wire';
import {
  eventPage,
  numberInQuery,
  refusal,
  run,
  runList,
  runPath,
  runStatus,
  started,
  startRequest,
  textUpTo,
} from '@phasegate/wire/schemas';
import { lineHolds } from '@phasegate/wire/watching';
import { RequestRefused } from '../problem.ts';
import { auditPageAfter } from './auditPages.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { demandOwnRun, humanOf } from './principals.ts';
import { refuse } from './refusal.ts';
import { breathe, searches, WINDOW } from './searches.ts';
import { HTTP } from './spell.ts';

const AGAIN = 'POST /api/v1/runs with this corrected';

/** Words are looked for in so many of the newest runs. */
const MOST_SEARCHED = 20_000;

/** Where the list of runs cannot be paged further. */
const OFFSET_LIMIT = 1_000_000;

/** Runs: starting them, listing them, looking at one. */
export const RUN_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/runs',
    operationId: 'listRuns',
    tag: 'runs',
    who: ['human'],
    summary: 'List runs',
    description: 'Newest first; `next_offset` leads to the next page.',
    query: z.strictObject({
      status: runStatus.optional(),
      workflow: textUpTo(WORD_LIMIT).optional(),
      search: textUpTo(WORD_LIMIT)
        .optional()
        .openapi({
          description: `words in the run's id, workflow, target, agent, phase or goal, among the newest ${MOST_SEARCHED}`,
        }),
      limit: numberInQuery({ min: 1, max: PAGE_LIMIT, preset: 100 }),
      offset: numberInQuery({ min: 0, max: OFFSET_LIMIT, preset: 0 }),
    }),
    answers: { 200: { description: 'a page of runs', schema: runList } },
    async handle({ caller, query, parts }) {
      const { status, workflow, search, limit, offset } = query;
      const wanted = {
        ...(status === undefined ? {} : { status }),
        ...(workflow === undefined ? {} : { workflow }),
      };
      const project = parts.project.as(humanOf(caller));
      // One more than asked for, to know whether there is a next page.
      const page = { limit: limit + 1, offset };
      const found =
        search === undefined
          ? await project.runs({ ...wanted, ...page })
          : await searches.act(caller.session.name, () =>
              linesHolding(search, (at) => project.runs({ ...wanted, ...at }), page),
            );
      const runs = found.slice(0, limit).map(encodeLine);
      const next_offset = found.length > limit ? offset + limit : null;
      return reply(200, { runs, next_offset });
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs',
    operationId: 'startRun',
    tag: 'runs',
    who: ['human'],
    summary: 'Start or queue a run',
    description:
      'Always makes a new run. `params` and `options` are one bag; a key in both with two values is refused. A run that a human starts waits for an agent to claim it: higher `priority` first, and only by agents with all its `capabilities`.',
    body: startRequest,
    answers: { 201: { description: 'the run was made', schema: started } },
    problems: { 409: { description: 'refused, and no run was made', schema: refusal } },
    async handle({ caller, body, parts, instance }) {
      const { workflow, params, options, target, goal, queue, priority, capabilities } = body;
      const { verdict, view } = await parts.project.as(humanOf(caller)).start({
        workflow,
        params: oneBag(params ?? {}, options ?? {}),
        ...(target === undefined ? {} : { target }),
        ...(goal === undefined ? {} : { goal }),
        ...(queue === undefined ? {} : { queue }),
        ...(priority === undefined ? {} : { priority }),
        ...(capabilities === undefined ? {} : { capabilities }),
      });
      if (view === null)
        return refuse({ ...encodeNotStarted(verdict.blockers, AGAIN, HTTP.human), instance });
      const location = `/api/v1/runs/${encodeURIComponent(view.run)}`;
      return { ...reply(201, encodeStarted(view, verdict, HTTP.human)), headers: { location } };
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{id}',
    operationId: 'getRun',
    tag: 'runs',
    who: ['human', 'token', 'agent'],
    summary: 'One run',
    description:
      'For a human everything; for an agent its own run as it may see it: the current and the completed phases, nothing later, and nothing of what a human is shown at a gate.',
    params: runPath,
    answers: { 200: { description: 'the run', schema: run } },
    async handle({ caller, params, parts }) {
      if (caller.kind === 'human') {
        const view = await parts.project.as(humanOf(caller)).view(params.id);
        const { gate } = view;
        const card = gate === null ? null : await parts.project.gateCard(params.id);
        // The card and the view are read one after the other: a hash of another gate would be no help.
        const seen =
          gate === null || card?.gate !== gate.id ? view : { ...view, gate: { ...gate, shown: card.shown } };
        return reply(200, encodeRun(seen, HTTP.human));
      }
      if (caller.kind === 'token') demandOwnRun(caller, params.id);
      const agent = caller.kind === 'token' ? caller.admitted.principal : caller.agent.principal;
      const view = await parts.project.as(agent).view(params.id);
      return reply(200, encodeRun(view, HTTP.agent));
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{id}/events',
    operationId: 'listRunEvents',
    tag: 'runs',
    who: ['human'],
    summary: 'What happened to a run',
    description:
      'The audit of the run, oldest first; `next_after` leads to the next page, and alone says whether there is one: a page may end before `limit`, where its records are large.',
    params: runPath,
    query: z.strictObject({
      after: numberInQuery({ min: 0, max: Number.MAX_SAFE_INTEGER, preset: 0 }),
      limit: numberInQuery({ min: 1, max: PAGE_LIMIT, preset: 100 }),
    }),
    answers: { 200: { description: 'a page of events', schema: eventPage } },
    async handle({ caller, params, query, parts }) {
      const { after, limit } = query;
      const gate = parts.project.as(humanOf(caller));
      const { records, next } = await auditPageAfter(
        (from, most, reading) => gate.history(params.id, { after: from, limit: most, ...reading }),
        { after, limit },
        ({ seq }) => seq,
      );
      return reply(200, { events: records, next_after: next });
    },
  }),
];

function oneBag(params: JsonObject, options: JsonObject): JsonObject {
  const torn = Object.keys(options).filter(
    (key) =>
      Object.hasOwn(params, key) &&
      canonicalJson(params[key] ?? null) !== canonicalJson(options[key] ?? null),
  );
  if (torn.length === 0) return { ...options, ...params };
  throw new RequestRefused(
    'request_invalid',
    '`params` and `options` are one bag, and give two values for a key',
    {
      fields: torn.map((key) => ({ field: `options.${key}`, message: 'has another value in `params`' })),
    },
  );
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A page of the runs that hold the words, looked for no further than it needs. */
async function linesHolding(
  search: string,
  read: (at: Page) => Promise<readonly RunSummary[]>,
  { limit, offset }: Page,
): Promise<readonly RunSummary[]> {
  // By their ids: a run that begins meanwhile moves the others on by one.
  const found = new Map<string, RunSummary>();
  for (let at = 0; at < MOST_SEARCHED && found.size < offset + limit; at += WINDOW) {
    const lines = await read({ limit: WINDOW, offset: at });
    for (const line of lines) if (lineHolds(line, search)) found.set(line.run, line);
    if (lines.length < WINDOW) break;
    await breathe();
  }
  return [...found.values()].slice(offset, offset + limit);
}
