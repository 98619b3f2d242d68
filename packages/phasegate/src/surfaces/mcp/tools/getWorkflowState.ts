import { encodeState } from '@phasegate/wire';
import { PHASE_ID, runAnswer, SESSION } from '../schemas.ts';
import { runOf } from '../session.ts';
import { MCP } from '../spell.ts';
import { type McpTool, READING } from '../tool.ts';

/** `get_workflow_state`: where a run is, and what it waits for. */
export const getWorkflowState: McpTool = {
  name: 'get_workflow_state',
  title: 'Where a run is',
  description:
    'Status, current and completed phases, attempts, an open gate or question, and the next call to make. Use it after an interruption and while a human is to act.',
  input: { session_id: SESSION },
  required: ['session_id'],
  output: runAnswer({
    workflow: { type: 'string' },
    target: { type: ['string', 'null'] },
    current_phase: PHASE_ID,
    completed_phases: { type: 'array', items: { type: ['string', 'number'] } },
    progress: { type: 'object' },
    attempts: { type: 'integer' },
    gate: { type: ['object', 'null'] },
    questions: { type: 'array', items: { type: 'object' } },
    answers: { type: 'array', items: { type: 'object' } },
    escalation: { type: 'object' },
    ring: { type: 'string' },
    trusted: { type: 'boolean' },
  }),
  annotations: READING,
  call: async (args, call) => encodeState(await runOf(args, call), MCP),
};
