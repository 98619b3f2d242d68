import { randomUUID } from 'node:crypto';
import { ERROR_CODES, type ErrorCode, type Json, PhasegateError } from '@phasegate/core';
import { encodeDefects } from '@phasegate/wire';
import type { Log } from './parts.ts';

/** The status each fault is answered with. */
export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  workflow_invalid: 422,
  workflow_unknown: 404,
  workflow_ambiguous: 409,
  untrusted_workflow: 409,
  code_changed: 409,
  run_unknown: 404,
  run_archived: 410,
  run_changed: 409,
  run_driven: 409,
  state_tampered: 503,
  audit_broken: 503,
  store_newer: 503,
  store_corrupt: 503,
  store_unavailable: 503,
  keys_unavailable: 503,
  config_invalid: 503,
  usage: 422,
  no_human: 403,
  not_permitted: 403,
  credential_invalid: 401,
  token_invalid: 401,
  token_expired: 401,
  token_dead: 403,
  agent_unknown: 404,
  rate_limited: 429,
  request_invalid: 422,
  route_unknown: 404,
  server_unreachable: 503,
  server_running: 409,
  database_busy: 503,
  database_changed: 409,
  database_refused: 422,
  worktree_failed: 409,
  range_unreadable: 422,
  bundle_invalid: 422,
  sandbox_unavailable: 409,
  deps_not_frozen: 409,
  tool_unavailable: 409,
  evidence_unreadable: 422,
  function_failed: 409,
  file_unreadable: 422,
  guarded_changed: 409,
  fence_failed: 409,
  path_outside: 422,
  too_large: 413,
  source_parse_failed: 422,
  template_not_found: 422,
  internal: 500,
};

/** The media type of every error. */
export const PROBLEM_JSON = 'application/problem+json';

/** One thing wrong with a request. */
export interface FieldProblem {
  /** Where in the request, e.g. `calls.0.tool`. */
  readonly field: string;
  readonly message: string;
}

/** What a refused request is answered with beside its code and message. */
export interface RefusalDetails {
  /** Where it is not the one of the code, e.g. 405 and 415. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fields?: readonly FieldProblem[];
  readonly hint?: string;
}

/** A request that is refused for what it is, before anything was asked of the engine. */
export class RequestRefused extends PhasegateError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: readonly FieldProblem[];

  constructor(code: ErrorCode, message: string, details: RefusalDetails = {}) {
    super(code, message, details.hint === undefined ? {} : { hint: details.hint });
    this.name = 'RequestRefused';
    this.status = details.status ?? STATUS_OF[code];
    this.headers = details.headers ?? {};
    this.fields = details.fields ?? [];
  }
}

/**
 * Anything thrown, as `application/problem+json`. Faults of our own say nothing of the inside: their cause goes to
 * the log under an id that the answer names.
 */
export function problemOf(error: unknown, instance?: string, log?: Log): Response {
  const known = error instanceof PhasegateError;
  const code = known ? error.code : 'internal';
  const status = error instanceof RequestRefused ? error.status : STATUS_OF[code];
  const body: Record<string, Json> = { ...standard(code, status), ...at(instance) };
  if (status >= 500 || !known) {
    const id = randomUUID();
    log?.error({ id, error: code, instance: instance ?? null, cause: textOf(error) }, 'a request failed');
    const away = AWAY.get(code);
    const shown = { ...body, detail: ERROR_CODES[code], message: ERROR_CODES[code], id };
    // Without a time to come back: who looks for one repeats what was asked for.
    if (known && error.uncertain) return problemResponse({ ...shown, ...toldUncertain(error) });
    if (away === undefined) return problemResponse(shown, {});
    return problemResponse({ ...shown, hint: away.hint }, { 'retry-after': away.seconds });
  }
  body.detail = error.message;
  body.message = error.message;
  const problems = problemsOf(error);
  if (problems.length > 0) body.problems = problems;
  if (error.hint !== undefined) body.hint = error.hint;
  if (error.uncertain) body.uncertain = true;
  return problemResponse(body, error instanceof RequestRefused ? error.headers : {});
}

/** Its hint names nothing of the inside, as that of a store may. */
function toldUncertain({ hint }: PhasegateError): Readonly<Record<string, Json>> {
  return { uncertain: true, ...(hint === undefined ? {} : { hint }) };
}

const LATER =
  'try again after the seconds of `Retry-After`; the log of this server has the cause under this `id`';

/** What may be there again in a moment: a store that is away, or has more to do than it can; keys that are put right. */
const AWAY: ReadonlyMap<ErrorCode, { readonly seconds: string; readonly hint: string }> = new Map([
  ['store_unavailable', { seconds: '1', hint: LATER }],
  ['database_busy', { seconds: '1', hint: LATER }],
  [
    'keys_unavailable',
    {
      seconds: '5',
      hint: 'no token is issued or believed until an operator has put the file of keys right; its name and what is wrong are in the log of this server, under this `id`',
    },
  ],
]);

function standard(code: ErrorCode, status: number): Readonly<Record<string, Json>> {
  return { type: `urn:phasegate:error:${code}`, title: ERROR_CODES[code], status, error: code };
}

function at(instance: string | undefined): Readonly<Record<string, Json>> {
  return instance === undefined ? {} : { instance };
}

function problemsOf(error: PhasegateError): readonly Json[] {
  const fields = error instanceof RequestRefused ? error.fields : [];
  return [
    ...fields.map(({ field, message }) => ({ field, message })),
    ...encodeDefects(error.problems).map((defect) => ({
      field: `${defect.file}:${defect.line}:${defect.column}`,
      ...defect,
    })),
  ];
}

function problemResponse(
  body: Readonly<Record<string, Json>>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const status = Number(body.status);
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': PROBLEM_JSON,
      'cache-control': 'no-store',
      ...(status === 401 ? { 'www-authenticate': 'Bearer realm="phasegate"' } : {}),
      ...headers,
    },
  });
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${textOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
