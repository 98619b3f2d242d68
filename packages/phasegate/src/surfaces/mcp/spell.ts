import type { Dialect, NextCall } from '@phasegate/wire';

/** The next legal act as the MCP call that does it. */
function spell({ action, run, evidence, human }: NextCall): string {
  const session = `session_id=${JSON.stringify(run)}`;
  const { act, phase, item } = action;
  switch (act) {
    case 'complete_phase': {
      const named = phase === undefined ? '' : `, phase=${JSON.stringify(phase)}`;
      const one = item === undefined ? '' : `, item=${JSON.stringify(item)}`;
      return `complete_phase(${session}${named}${one}, evidence={${(evidence ?? []).join(', ')}})`;
    }
    case 'get_task':
      return phase === undefined
        ? `get_current_phase(${session})`
        : `get_task(${session}, phase=${JSON.stringify(phase)}, task_number=${action.task ?? 1})`;
    case 'wait_for_human':
      return `get_workflow_state(${session}) once a human has ${humansAct(run, human)}`;
    case 'use_allowed_tool':
    case 'claim':
    case 'start':
    case 'none':
      return action.text;
  }
}

function humansAct(run: string, human: NextCall['human']): string {
  switch (human?.act) {
    case 'decide':
      return `decided at gate \`${human.gate}\` with \`phasegate decide ${run}\``;
    case 'resume_or_stop':
      return `run \`phasegate resume ${run}\` or \`phasegate stop ${run} --reason TEXT\``;
    default:
      return `answered with \`phasegate answer ${run} --question N --option LABEL\``;
  }
}

/** The words of MCP. */
export const MCP: Dialect = {
  spell,
  reader: 'agent',
  steps: false,
  ask: (run) => `report_blocked(session_id=${JSON.stringify(run)}, reason)`,
};
