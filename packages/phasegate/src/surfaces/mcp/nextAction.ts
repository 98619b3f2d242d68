import type { Json, JsonObject, RunView, Submitted } from '@phasegate/core';
import { encodeBlockers, spellNext } from '@phasegate/wire';
import { MCP } from './spell.ts';

/** The engine's answer with every next action as an MCP call, and the texts the agent may now read. */
export function respell({ answer, verdict, view }: Submitted): JsonObject {
  const message = verdict.allowed ? {} : { message: verdict.blockers[0].message };
  const spelled: Record<string, Json> = { ...message, ...answer, next_action: spellNext(view, MCP) };
  if (!verdict.allowed && answer.blockers !== undefined)
    spelled.blockers = encodeBlockers(verdict.blockers, view, MCP);
  if (verdict.allowed && verdict.wouldRefuse !== undefined) {
    spelled.would_refuse = encodeBlockers(verdict.wouldRefuse, view, MCP);
  }
  return withText(spelled, view);
}

/** The view's own text of the current phase in place of the engine's: a phase's function may have made it. */
export function withText(answer: JsonObject, view: Pick<RunView, 'current_phase'>): JsonObject {
  const text = view.current_phase?.phase_content;
  if (text === undefined) return answer;
  return {
    ...answer,
    ...(answer.next_phase_content === undefined ? {} : { next_phase_content: text }),
    ...(answer.current_phase_content === undefined ? {} : { current_phase_content: text }),
  };
}
