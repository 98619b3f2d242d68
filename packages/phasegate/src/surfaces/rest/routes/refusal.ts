import type { Json, JsonObject, Submitted } from '@phasegate/core';
import { encodeBlockers, encodeSubmitted, type Reader } from '@phasegate/wire';
import { PROBLEM_JSON } from '../problem.ts';
import { HTTP } from './spell.ts';

/** What is refused, and where it was asked. */
export interface Refused {
  readonly instance: string;
  readonly reader: Reader;
  /** Fields of the public answer beside those of a problem. */
  readonly more?: JsonObject;
}

/** A refused command as 409: every blocker, and what the caller needs to go on. Null where it was allowed. */
export function refusalOf(submitted: Submitted, { instance, reader, more }: Refused): Response | null {
  const { verdict, view } = submitted;
  if (verdict.allowed) return null;
  const { status: _status, error, message, ...said } = encodeSubmitted(submitted, HTTP[reader]);
  return refuse({
    ...said,
    ...more,
    error: error ?? verdict.blockers[0].code,
    message: message ?? verdict.blockers[0].message,
    run_status: view.status,
    current_phase: view.phase,
    instance,
    blockers: encodeBlockers(verdict.blockers, view, HTTP[reader]),
  });
}

/** Any other refusal of the workflow, in the shape of a problem. */
export function refuse(body: JsonObject & { readonly error: Json; readonly message: Json }): Response {
  const problem = {
    type: `urn:phasegate:blocker:${String(body.error)}`,
    title: 'the workflow refuses this',
    status: 409,
    detail: body.message,
    ...body,
  };
  return new Response(JSON.stringify(problem), {
    status: 409,
    headers: { 'content-type': PROBLEM_JSON, 'cache-control': 'no-store' },
  });
}
