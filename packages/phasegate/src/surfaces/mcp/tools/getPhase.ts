import { encodeReadPhase, encodeSkipped, spellNext } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { phaseArgument } from '../arguments.ts';
import { PHASE, SESSION } from '../schemas.ts';
import { runOf } from '../session.ts';
import { withRange } from '../skippedPhase.ts';
import { MCP } from '../spell.ts';
import { type McpTool, READING } from '../tool.ts';

/** `get_phase`: the current or a completed phase, and no other. */
export const getPhase: McpTool = {
  name: 'get_phase',
  title: 'Read a phase again',
  description:
    'The current phase or a completed one. Later phases are refused: complete the current one first.',
  input: { session_id: SESSION, phase: PHASE },
  required: ['session_id', 'phase'],
  output: SESSION_ANSWERS.get_phase,
  annotations: READING,
  async call(args, call) {
    const view = await runOf(args, call);
    const requested = phaseArgument(args);
    const { run } = view;
    const answer = await call.phasegate.phase(run, requested);
    if (answer.ok) return encodeReadPhase(view, answer.phase, MCP);
    const next_action = spellNext(view, MCP);
    const refusal = { ...encodeSkipped(answer.skipped, view), session_id: run, next_action };
    return withRange(refusal, requested, { phasegate: call.phasegate, run });
  },
};
