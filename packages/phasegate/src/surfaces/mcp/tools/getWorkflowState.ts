import { encodeState } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { SESSION } from '../schemas.ts';
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
  output: SESSION_ANSWERS.get_workflow_state,
  annotations: READING,
  call: async (args, call) => encodeState(await runOf(args, call), MCP),
};
