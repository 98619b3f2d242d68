import { isJsonObject, type Json, PhasegateError } from '@phasegate/core';
import { ANSWER_LIMIT, boundAnswer } from '../../../limits/keptAnswers.ts';
import type { Caller, RestParts } from '../parts.ts';
import type { Answers, Reply } from './endpoint.ts';

/** Whom an answer is for, and where a large one is kept. */
export interface Asker {
  readonly caller: Caller;
  readonly parts: Pick<RestParts, 'project'>;
}

/** What a handler replied, as a response within the limit. */
export async function responseTo(reply: Reply<Answers>, asker: Asker): Promise<Response> {
  if (reply instanceof Response) return boundedResponse(reply, asker);
  const { status, body, headers } = reply as PlainReply;
  if (body === undefined) return new Response(null, { status });
  return new Response(boundedText(body, asker), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  });
}

/** A reply that is not a response yet. */
export interface PlainReply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The JSON text of a body, within the limit where an agent asked. */
export function boundedText(body: unknown, asker: Asker): string {
  const text = textOf(body);
  // No text has fewer bytes than characters, and most are far from the limit.
  if (text.length * 3 <= ANSWER_LIMIT) return text;
  const agent = agentOf(asker.caller);
  if (agent === null || !isJsonObject(body)) return text;
  const rest = (whole: string) =>
    `GET /api/v1/answers/${encodeURIComponent(asker.parts.project.answers.keep(agent, whole))}?page=1`;
  return JSON.stringify(boundAnswer(body, { text, most: ANSWER_LIMIT, rest }));
}

/** INVARIANT: what is too large for one text is a problem of the one who asks, and never a fault of the server. */
function textOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PhasegateError('too_large', 'the answer is too large to be given at once', {
      hint: 'ask for less of it: with a smaller `limit`, or by the audit of the run, page by page',
      cause: error,
    });
  }
}

/** The same for an answer that is made already, such as a refusal with the phase beside it. */
async function boundedResponse(response: Response, asker: Asker): Promise<Response> {
  const { status, headers } = response;
  if (agentOf(asker.caller) === null || !(headers.get('content-type') ?? '').includes('json'))
    return response;
  const text = await response.text();
  const given = text.length * 3 <= ANSWER_LIMIT ? text : boundedText(JSON.parse(text) as Json, asker);
  return new Response(given, { status, headers });
}

function agentOf(caller: Caller): string | null {
  if (caller.kind === 'agent') return caller.agent.principal.name;
  return caller.kind === 'token' ? caller.admitted.principal.name : null;
}
