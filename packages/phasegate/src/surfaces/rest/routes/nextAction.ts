import {
  type Blocker,
  isJsonObject,
  type JsonObject,
  type NextAction,
  own,
  type RunView,
} from '@phasegate/core';
import type { BlockerAnswer } from '../schemas/index.ts';

/** What of a run the next call is spelled from. */
export type Place = Pick<RunView, 'run' | 'phase' | 'status' | 'gate' | 'current_phase' | 'next_action'>;

/** Who reads it: an agent is told its own next call, a human theirs. */
export type Reader = 'agent' | 'human';

/** The one legal call as things stand. */
export function nextCall(place: Place, reader: Reader = 'agent'): string {
  if (reader === 'human' && place.next_action.act === 'wait_for_human') return humansCall(place);
  return spellNextAction(place.next_action, place);
}

/** The next legal act as the request that does it. */
export function spellNextAction(action: NextAction, place: Place): string {
  const run = encodeURIComponent(place.run);
  switch (action.act) {
    case 'complete_phase': {
      const names = artifactNames(action, place).join(', ');
      const item = action.item === undefined ? '' : `, "item": ${JSON.stringify(action.item)}`;
      return `POST /api/v1/tasks/transition with {"artifacts": {${names}}${item}}`;
    }
    case 'get_task':
      return action.phase === undefined
        ? `GET /api/v1/runs/${run}/phase`
        : `GET /api/v1/runs/${run}/tasks/${encodeURIComponent(String(action.phase))}/${action.task ?? 1}`;
    case 'wait_for_human':
      return `POST /api/v1/tasks/token with {"task_id": ${JSON.stringify(place.run)}} once a human has ${humansAct(place)}`;
    case 'claim':
      return 'POST /api/v1/tasks/claim with {"agent_id": your name}';
    case 'use_allowed_tool':
    case 'start':
    case 'none':
      return action.text;
  }
}

/** Blockers as they are answered: a human who is refused is told their own next call, not the agent's. */
export function wireBlockers(
  blockers: readonly Blocker[],
  place: Place,
  reader: Reader = 'agent',
): readonly (Omit<BlockerAnswer, 'next_step'> & { readonly next_step: JsonObject & NextAction })[] {
  return blockers.map(({ code, message, nextAction }) => ({
    code,
    message,
    next_action:
      reader === 'human' && nextAction.act === 'wait_for_human'
        ? humansCall(place)
        : spellNextAction(nextAction, place),
    next_step: { ...nextAction },
  }));
}

function humansAct({ status, gate }: Place): string {
  if (gate !== null) return `decided at gate \`${gate.id}\``;
  return status === 'escalated' ? 'resumed or stopped the run' : 'answered the questions';
}

function humansCall({ run, status, gate }: Place): string {
  const path = `/api/v1/runs/${encodeURIComponent(run)}`;
  if (gate !== null) {
    return `POST ${path}/decisions with {"gate": ${JSON.stringify(gate.id)}, "option", "shown"}, where \`shown\` is from GET ${path}/gate`;
  }
  if (status === 'escalated')
    return `POST ${path}/resume with {"note"}, or POST ${path}/stop with {"reason"}`;
  return `POST ${path}/answers with {"question", "option"}`;
}

function artifactNames(action: NextAction, { phase, current_phase }: Place): readonly string[] {
  if (current_phase === null || (action.phase !== undefined && action.phase !== phase)) return [];
  const required = current_phase.checkpoint_criteria.required_evidence;
  if (!isJsonObject(required)) return [];
  return Object.entries(required).map(([name, rule]) =>
    own(rule, 'validator') === 'optional' ? `${name}?` : name,
  );
}
