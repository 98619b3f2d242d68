import { encodeSubmitted } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { numberArgument, phaseArgument, wrongCall } from '../arguments.ts';
import { PHASE, SESSION } from '../schemas.ts';
import { runOf } from '../session.ts';
import { withRange } from '../skippedPhase.ts';
import { MCP } from '../spell.ts';
import { type McpTool, MOVING } from '../tool.ts';

/** `get_task`: one task; fetching it is recorded, and a phase with tasks needs them fetched. */
export const getTask: McpTool = {
  name: 'get_task',
  title: 'Fetch a task',
  description:
    'One task of the current or a completed phase. Every task of a phase has to be fetched before the phase can be completed.',
  input: {
    session_id: SESSION,
    phase: PHASE,
    task_number: { anyOf: [{ type: 'number' }, { type: 'string' }], description: 'from 1' },
  },
  required: ['session_id', 'phase', 'task_number'],
  output: SESSION_ANSWERS.get_task,
  annotations: { ...MOVING, idempotentHint: true },
  async call(args, call) {
    const { run } = await runOf(args, call);
    const phase = phaseArgument(args);
    const task = numberArgument(args, 'task_number');
    if (task === undefined) throw wrongCall('`task_number` is missing');
    const submitted = await call.phasegate.submit(run, {
      kind: 'fetch_task',
      phase,
      task,
    });
    const answer = { session_id: run, ...encodeSubmitted(submitted, MCP) };
    return withRange(answer, phase, { phasegate: call.phasegate, run });
  },
};
