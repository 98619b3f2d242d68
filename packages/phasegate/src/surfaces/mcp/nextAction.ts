import {
  type Blocker,
  isJsonObject,
  type Json,
  type JsonObject,
  type NextAction,
  own,
  type PhaseId,
  type RunView,
  type Submitted,
} from '@phasegate/core';

/** What of a run the next call is spelled from. */
export type Place = Pick<RunView, 'run' | 'phase' | 'status' | 'gate' | 'current_phase' | 'next_action'>;

/** The next legal act as the MCP call that does it. */
export function spellNextAction(action: NextAction, place: Place): string {
  const session = `session_id=${JSON.stringify(place.run)}`;
  switch (action.act) {
    case 'complete_phase': {
      const phase = action.phase === undefined ? '' : `, phase=${spellPhase(action.phase)}`;
      const item = action.item === undefined ? '' : `, item=${JSON.stringify(action.item)}`;
      return `complete_phase(${session}${phase}${item}, evidence={${evidenceNames(action, place).join(', ')}})`;
    }
    case 'get_task':
      return action.phase === undefined
        ? `get_current_phase(${session})`
        : `get_task(${session}, phase=${spellPhase(action.phase)}, task_number=${action.task ?? 1})`;
    case 'wait_for_human':
      return `get_workflow_state(${session}) once a human has ${humansAct(place)}`;
    case 'use_allowed_tool':
    case 'claim':
    case 'start':
    case 'none':
      return action.text;
  }
}

/** The one legal call for the agent that holds the run, as things stand. */
export function nextCall(view: Place): string {
  return spellNextAction(view.next_action, view);
}

/** The engine's answer with every next action as an MCP call, and the texts the agent may now read. */
export function respell({ answer, verdict, view }: Submitted): JsonObject {
  const message = verdict.allowed ? {} : { message: verdict.blockers[0].message };
  const spelled: Record<string, Json> = { ...message, ...answer, next_action: nextCall(view) };
  if (!verdict.allowed && answer.blockers !== undefined)
    spelled.blockers = wireBlockers(verdict.blockers, view);
  if (verdict.allowed && verdict.wouldRefuse !== undefined) {
    spelled.would_refuse = wireBlockers(verdict.wouldRefuse, view);
  }
  return withText(spelled, view);
}

/** Blockers as they are answered. */
export function wireBlockers(blockers: readonly Blocker[], place: Place): readonly JsonObject[] {
  return blockers.map(({ code, message, nextAction }) => ({
    code,
    message,
    next_action: spellNextAction(nextAction, place),
  }));
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

function humansAct({ run, status, gate }: Place): string {
  if (gate !== null) return `decided at gate \`${gate.id}\` with \`phasegate decide ${run}\``;
  if (status === 'escalated') return `run \`phasegate resume ${run}\` or \`phasegate stop ${run}\``;
  return `answered with \`phasegate answer ${run} --question N --option LABEL\``;
}

function evidenceNames(action: NextAction, { phase, current_phase }: Place): readonly string[] {
  if (current_phase === null || action.phase !== phase) return [];
  const required = current_phase.checkpoint_criteria.required_evidence;
  if (!isJsonObject(required)) return [];
  return Object.entries(required).map(([name, rule]) =>
    own(rule, 'validator') === 'optional' ? `${name}?` : name,
  );
}

function spellPhase(id: PhaseId): string {
  return JSON.stringify(id);
}
