import { z } from '@hono/zod-openapi';
import type { Phasegate } from '@phasegate/core';
import {
  encodeFetchedTask,
  encodeRun,
  encodeRunPhase,
  encodeSkipped,
  spellNext,
  WORD_LIMIT,
} from '@phasegate/wire';
import {
  blockedRequest,
  orRunChanged,
  phase,
  phaseRefused,
  phaseTask,
  questionsRequest,
  refusal,
  run,
  runPath,
  textUpTo,
} from '@phasegate/wire/schemas';
import type { Caller, RestParts } from '../parts.ts';
import { begunAt } from './begunAt.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';
import { demandOwnRun } from './principals.ts';
import { refusalOf, refuse } from './refusal.ts';
import { HTTP } from './spell.ts';

const taskPath = z.strictObject({
  ...runPath.shape,
  phase: textUpTo(WORD_LIMIT).openapi({ param: { name: 'phase', in: 'path' }, example: 'PLAN' }),
  n: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, { error: 'must be a whole number from 1', abort: true })
    .transform(Number)
    .openapi({ param: { name: 'n', in: 'path' }, type: 'integer', minimum: 1, example: 1 }),
});

/** What an agent reads and asks in the run of its token. */
export const PHASE_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/runs/{id}/phase',
    operationId: 'getPhase',
    tag: 'runs',
    who: ['token'],
    summary: 'The current phase, or a completed one',
    description:
      'What MCP gives by `get_current_phase` and `get_phase`. A later phase is refused with 409 `phase_sequence_violation`, the current phase beside it.',
    params: runPath,
    query: z.strictObject({
      phase: textUpTo(WORD_LIMIT)
        .optional()
        .openapi({ description: 'id, number or name; left out: the current one' }),
    }),
    answers: { 200: { description: 'the phase', schema: phase } },
    problems: { 409: { description: 'neither the current phase nor a completed one', schema: phaseRefused } },
    async handle({ caller, params, query, parts, instance }) {
      demandOwnRun(caller, params.id);
      const mine = parts.project.as(caller.admitted.principal);
      const view = await mine.view(params.id);
      if (query.phase === undefined) return reply(200, encodeRunPhase(view, view.current, HTTP.agent));
      const answer = await mine.phase(params.id, query.phase);
      if (answer.ok) return reply(200, encodeRunPhase(view, answer.phase, HTTP.agent));
      const next_action = spellNext(view, HTTP.agent);
      return refuse({
        ...encodeSkipped(answer.skipped, view),
        run_status: view.status,
        instance,
        next_action,
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{id}/tasks/{phase}/{n}',
    operationId: 'getTask',
    tag: 'runs',
    who: ['token'],
    summary: 'One task of a phase',
    description:
      'What MCP gives by `get_task`. That it was read is on record: a phase with tasks is completed only when each was.',
    params: taskPath,
    answers: { 200: { description: 'the task', schema: phaseTask } },
    problems: { 409: { description: 'no such task, or not of a phase that may be read', schema: refusal } },
    async handle({ caller, params, parts, instance }) {
      demandOwnRun(caller, params.id);
      const submitted = await byToken(parts, caller).submit(params.id, {
        kind: 'fetch_task',
        phase: params.phase,
        task: params.n,
      });
      const refused = refusalOf(submitted, { instance, reader: 'agent' });
      if (refused !== null) return refused;
      return reply(200, encodeFetchedTask(submitted, HTTP.agent));
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/questions',
    operationId: 'askHuman',
    tag: 'runs',
    who: ['token'],
    summary: 'Ask a human',
    description:
      'One to three questions with two or three options each. The run waits until a human has answered them all. No answer decides a gate.',
    params: runPath,
    body: questionsRequest,
    answers: { 200: { description: 'the run, which waits now', schema: run } },
    problems: { 409: { description: 'refused, or the run has moved on', schema: orRunChanged(refusal) } },
    async handle({ caller, params, body, parts, instance }) {
      demandOwnRun(caller, params.id);
      const command = { kind: 'ask', questions: body.questions, ...begunAt(body.at) } as const;
      const submitted = await byToken(parts, caller).submit(params.id, command);
      const refused = refusalOf(submitted, { instance, reader: 'agent' });
      return refused ?? reply(200, encodeRun(submitted.view, HTTP.agent));
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs/{id}/blocked',
    operationId: 'reportBlocked',
    tag: 'runs',
    who: ['token'],
    summary: 'Hand the phase to a human',
    description:
      'The honest way out when evidence cannot be provided. The run is escalated until a human acts.',
    params: runPath,
    body: blockedRequest,
    answers: { 200: { description: 'the run, which is escalated now', schema: run } },
    problems: { 409: { description: 'refused, or the run has moved on', schema: orRunChanged(refusal) } },
    async handle({ caller, params, body, parts, instance }) {
      demandOwnRun(caller, params.id);
      const command = { kind: 'report_blocked', reason: body.reason, ...begunAt(body.at) } as const;
      const submitted = await byToken(parts, caller).submit(params.id, command);
      const refused = refusalOf(submitted, { instance, reader: 'agent' });
      return refused ?? reply(200, encodeRun(submitted.view, HTTP.agent));
    },
  }),
];

/** The holder of a token: one that dies between the door and the engine moves nothing. */
function byToken({ project }: RestParts, { admitted }: Extract<Caller, { kind: 'token' }>): Phasegate {
  return project.as(admitted.principal, { admitted });
}
