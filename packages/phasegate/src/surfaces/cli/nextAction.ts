import type { Json, JsonObject, RunView, Submitted } from '@phasegate/core';
import { encodeBlockers, spellNext } from '@phasegate/wire';
import { SHELL } from './spell.ts';

/** The engine's answer with every next action in the words of a shell, and a refusal's message at the top. */
export function respell({ answer, verdict, view }: Submitted): JsonObject {
  const message = verdict.allowed ? {} : { message: verdict.blockers[0].message };
  const spelled: Record<string, Json> = { ...message, ...answer };
  spelled.next_action = spellNext(view, SHELL);
  if (!verdict.allowed && answer.blockers !== undefined) {
    spelled.blockers = encodeBlockers(verdict.blockers, view, SHELL);
  }
  if (verdict.allowed && verdict.wouldRefuse !== undefined) {
    spelled.would_refuse = encodeBlockers(verdict.wouldRefuse, view, SHELL);
  }
  // A phase's function may have made its text: the view has it, the engine does not.
  const text = view.current_phase?.phase_content;
  for (const name of ['next_phase_content', 'current_phase_content']) {
    if (text !== undefined && spelled[name] !== undefined) spelled[name] = text;
  }
  return spelled;
}

/** A run's view as it is printed: wire names all through, next actions in the words of a shell. */
export function wireView(view: RunView): object {
  const { escalation, current_phase: phase } = view;
  return {
    ...view,
    ...phase,
    phase: view.phase,
    current_phase: view.phase,
    escalation:
      escalation === null
        ? null
        : { ...escalation, blockers: encodeBlockers(escalation.blockers, view, SHELL) },
    next_action: spellNext(view, SHELL),
  };
}
