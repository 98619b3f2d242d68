import { z } from '@hono/zod-openapi';
import { WORD_LIMIT } from '@phasegate/wire';
import { numberInQuery, textUpTo } from '@phasegate/wire/schemas';
import { RequestRefused } from '../problem.ts';
import { type Endpoint, endpoint, reply } from './endpoint.ts';

const answerPage = z
  .object({
    page: z.int(),
    pages: z.int(),
    text: z.string().openapi({ description: 'a part of the JSON text of the answer' }),
  })
  .openapi('AnswerPage');

/** Answers that were too large to be given at once. */
export const ANSWER_ROUTES: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/answers/{id}',
    operationId: 'readAnswer',
    tag: 'tasks',
    who: ['token', 'agent'],
    summary: 'The rest of a large answer, page by page',
    description:
      'No answer to an agent is larger than 100 KB. Where one would be, it is cut and has `truncated: true`, `truncated_parts` and `rest`, which is this call. The texts of all pages together are the JSON of the whole answer. Of each agent the last few are kept.',
    params: z.strictObject({
      id: textUpTo(WORD_LIMIT).openapi({ param: { name: 'id', in: 'path' }, example: 'a1' }),
    }),
    query: z.strictObject({ page: numberInQuery({ min: 1, max: 100_000, preset: 1 }) }),
    answers: { 200: { description: 'the page', schema: answerPage } },
    async handle({ caller, params, query, parts }) {
      const agent = caller.kind === 'agent' ? caller.agent.principal : caller.admitted.principal;
      const found = parts.project.answers.page(agent.name, params.id, query.page);
      if (found !== null) return reply(200, found);
      throw new RequestRefused('request_invalid', 'there is no such answer, or it has no such page', {
        status: 404,
        hint: 'only the last few large answers are kept: make the call it came from again',
      });
    },
  }),
];
