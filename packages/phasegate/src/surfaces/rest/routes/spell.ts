import type { Dialect, HumansTurn, NextCall, Reader } from '@phasegate/wire';

/** The next legal act as the request that does it. */
function spell({ action, run: id, reader, evidence, human }: NextCall): string {
  const run = `/api/v1/runs/${encodeURIComponent(id)}`;
  const { act, phase, item } = action;
  switch (act) {
    case 'complete_phase': {
      if (evidence === null) return `POST /api/v1/tasks/transition with the artifacts of GET ${run}/phase`;
      const one = item === undefined ? '' : `, "item": ${JSON.stringify(item)}`;
      return `POST /api/v1/tasks/transition with {"artifacts": {${evidence.join(', ')}}${one}}`;
    }
    case 'get_task':
      return phase === undefined
        ? `GET ${run}/phase`
        : `GET ${run}/tasks/${encodeURIComponent(String(phase))}/${action.task ?? 1}`;
    case 'wait_for_human':
      if (human === null) return `GET ${run} until a human has acted; ${action.text}`;
      if (reader === 'human') return humansCall(run, human);
      return `POST /api/v1/tasks/token with {"task_id": ${JSON.stringify(id)}} once a human has ${humansAct(human)}`;
    case 'claim':
      return 'POST /api/v1/tasks/claim with {"agent_id": your name}';
    case 'use_allowed_tool':
    case 'start':
    case 'none':
      return action.text;
  }
}

function humansAct(human: HumansTurn): string {
  if (human.act === 'decide') return `decided at gate \`${human.gate}\``;
  return human.act === 'answer' ? 'answered the questions' : 'resumed or stopped the run';
}

function humansCall(run: string, human: HumansTurn): string {
  switch (human.act) {
    case 'decide':
      return `POST ${run}/decisions with {"gate": ${JSON.stringify(human.gate)}, "option", "shown"}, where \`shown\` is from GET ${run}/gate`;
    case 'resume_or_stop':
      return `POST ${run}/resume with {"note"}, or POST ${run}/stop with {"reason"}`;
    case 'answer':
      return `POST ${run}/answers with {"question", "option"}`;
  }
}

/** The words of HTTP, for who reads them. */
export const HTTP: Readonly<Record<Reader, Dialect & { readonly steps: true }>> = {
  agent: {
    spell,
    reader: 'agent',
    steps: true,
    ask: (run) => `POST /api/v1/runs/${encodeURIComponent(run)}/blocked with {"reason"}`,
  },
  human: { spell, reader: 'human', steps: true },
};
