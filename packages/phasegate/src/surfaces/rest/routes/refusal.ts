import type { Blocker, Json, JsonObject, RunView, Submitted } from '@phasegate/core';
import { encodeBlockers, type Reader, spellNext } from '@phasegate/wire';
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
export function refusalOf({ verdict, view, answer }: Submitted, refused: Refused): Response | null {
  if (verdict.allowed) return null;
  const [first] = verdict.blockers;
  const { status: run_status, ...said } = withText(answer, view);
  return refuse({
    ...said,
    ...refused.more,
    error: String(answer.error ?? first.code),
    message: String(answer.message ?? first.message),
    run_status: run_status ?? view.status,
    current_phase: view.phase,
    instance: refused.instance,
    blockers: encodeBlockers(verdict.blockers, view, HTTP[refused.reader]),
    next_action: spellNext(view, HTTP[refused.reader]),
  });
}

/** The refusal of a run that was not made. */
export function notStarted(blockers: readonly [Blocker, ...Blocker[]], instance: string): Response {
  const [first] = blockers;
  const again = 'POST /api/v1/runs with this corrected';
  // No other body puts this right.
  const wayOn = ({ code, nextAction }: Blocker) => (code === 'run_exists' ? nextAction.text : again);
  return refuse({
    error: first.code,
    message: blockers.map(({ message }) => message).join('; '),
    instance,
    blockers: blockers.map((found) => ({
      code: found.code,
      message: found.message,
      next_action: wayOn(found),
      next_step: { ...found.nextAction },
    })),
    next_action: wayOn(first),
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

/** The view's own text of the current phase in place of the engine's: a phase's function may have made it. */
export function withText(answer: JsonObject, view: Pick<RunView, 'current_phase'>): JsonObject {
  const text = view.current_phase?.phase_content;
  if (text === undefined || answer.current_phase_content === undefined) return answer;
  return { ...answer, current_phase_content: text };
}
