import { encodeState, encodeSubmitted } from '@phasegate/wire';
import { SESSION_ANSWERS } from '@phasegate/wire/schemas/session';
import { optionalText } from '../arguments.ts';
import { SESSION } from '../schemas.ts';
import { remember, toldAt, viewOf } from '../session.ts';
import { MCP } from '../spell.ts';
import { type McpTool, MOVING } from '../tool.ts';

/** `report_blocked`: the honest way out when evidence cannot be provided. */
export const reportBlocked: McpTool = {
  name: 'report_blocked',
  title: 'Hand the phase to a human',
  description:
    'Say that the phase cannot be completed honestly, and why. A human takes over; the run waits for them.',
  input: { session_id: SESSION, reason: { type: 'string', description: 'what is in the way' } },
  required: ['session_id', 'reason'],
  output: SESSION_ANSWERS.report_blocked,
  annotations: MOVING,
  async call(args, call) {
    const view = await viewOf(args, call);
    const { run } = view;
    const reason = optionalText(args, 'reason') ?? '';
    const submitted = await call.phasegate.submit(run, {
      kind: 'report_blocked',
      reason,
      at: toldAt(call, view),
    });
    remember(call, submitted.view);
    if (submitted.verdict.allowed) return encodeState(submitted.view, MCP);
    return { session_id: run, ...encodeSubmitted(submitted, MCP) };
  },
};
