import { spellNext } from '@phasegate/wire';
import { phaseArgument } from '../arguments.ts';
import { wirePhase } from '../describeRun.ts';
import { withText } from '../nextAction.ts';
import { PHASE, PHASE_FIELDS, runAnswer, SESSION, SKIP_FIELDS } from '../schemas.ts';
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
  output: runAnswer(PHASE_FIELDS, SKIP_FIELDS),
  annotations: READING,
  async call(args, call) {
    const view = await runOf(args, call);
    const requested = phaseArgument(args);
    const { run, status } = view;
    const common = { session_id: run, next_action: spellNext(view, MCP) };
    const answer = await call.phasegate.phase(run, requested);
    if (answer.ok) return { ...common, status, ...wirePhase(answer.phase), next_action: common.next_action };
    const refusal = withText({ ...answer.refusal, ...common }, view);
    return withRange(refusal, requested, { phasegate: call.phasegate, run });
  },
};
