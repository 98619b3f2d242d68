import { encodeSessionPhase } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { SESSION } from '../schemas.ts';
import { runOf } from '../session.ts';
import { MCP } from '../spell.ts';
import { type McpTool, READING } from '../tool.ts';

/** `get_current_phase`: all an agent needs for the phase it is in. */
export const getCurrentPhase: McpTool = {
  name: 'get_current_phase',
  title: 'Read the current phase',
  description:
    'The instructions of the phase you are in, what evidence it asks for, the titles of its tasks and, after a refused attempt, why it was refused.',
  input: { session_id: SESSION },
  required: ['session_id'],
  output: SESSION_ANSWERS.get_current_phase,
  annotations: READING,
  alwaysLoad: true,
  call: async (args, call) => encodeSessionPhase(await runOf(args, call), MCP),
};
