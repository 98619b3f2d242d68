import {
  type Blocker,
  type Json,
  type JsonObject,
  type NextAction,
  oneLine,
  type PhaseId,
  type RunView,
  type Submitted,
  shellWord,
} from '@phasegate/core';

/** The next legal act in the words of a shell: the exact command where there is one. */
export function spellNextAction(action: NextAction, runId: string): string {
  const run = shellWord(runId);
  switch (action.act) {
    case 'complete_phase':
      return `phasegate done ${run}${phaseOption(action.phase)}${itemOption(action.item)} --evidence -`;
    case 'get_task':
      return action.phase === undefined
        ? `phasegate next ${run}`
        : `phasegate task ${run} ${shellWord(String(action.phase))} ${action.task ?? 1}`;
    case 'wait_for_human':
      return `${oneLine(action.text)}; look again with \`phasegate status ${run}\``;
    case 'use_allowed_tool':
    case 'claim':
    case 'start':
    case 'none':
      return oneLine(action.text);
  }
}

/** The engine's answer with every next action in the words of a shell, and a refusal's message at the top. */
export function respell({ answer, verdict, view }: Submitted): JsonObject {
  const message = verdict.allowed ? {} : { message: verdict.blockers[0].message };
  const spelled: Record<string, Json> = { ...message, ...answer };
  spelled.next_action = spellNextAction(view.next_action, view.run);
  if (!verdict.allowed && answer.blockers !== undefined) {
    spelled.blockers = wireBlockers(verdict.blockers, view.run);
  }
  if (verdict.allowed && verdict.wouldRefuse !== undefined) {
    spelled.would_refuse = wireBlockers(verdict.wouldRefuse, view.run);
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
      escalation === null ? null : { ...escalation, blockers: wireBlockers(escalation.blockers, view.run) },
    next_action: spellNextAction(view.next_action, view.run),
  };
}

/** Blockers as they are printed. */
export function wireBlockers(blockers: readonly Blocker[], runId: string): readonly JsonObject[] {
  return blockers.map(({ code, message, nextAction }) => ({
    code,
    message,
    next_action: spellNextAction(nextAction, runId),
  }));
}

function itemOption(item: string | undefined): string {
  return item === undefined ? '' : ` --item ${shellWord(item)}`;
}

function phaseOption(phase: PhaseId | undefined): string {
  if (phase === undefined) return '';
  const word = shellWord(String(phase));
  return word.startsWith('-') ? ` --phase=${word}` : ` --phase ${word}`;
}
