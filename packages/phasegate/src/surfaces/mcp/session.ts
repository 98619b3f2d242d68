import { type JsonObject, PhasegateError, type RunView, type WorkedAt } from '@phasegate/core';
import { optionalText, wrongCall } from './arguments.ts';
import type { ToolCall } from './tool.ts';

/**
 * The run a call is about, as its agent may see it. Looked at before anything is submitted: whose run it is must be
 * known before an answer can hold any of its text.
 */
export async function runOf(args: JsonObject, call: ToolCall): Promise<RunView> {
  const view = await viewOf(args, call);
  remember(call, view);
  return view;
}

/** Keeps what the agent is told of a run on this connection. */
export function remember({ told }: ToolCall, { run, phase, epoch }: RunView): void {
  told?.set(run, { phase, epoch });
}

/** Where the run stood when the agent was last told of the phase it completes: its work was done for that visit. */
export function toldAt({ told }: ToolCall, { run, phase, epoch }: RunView): WorkedAt {
  const last = told?.get(run);
  return { epoch: last !== undefined && last.phase === phase ? last.epoch : epoch };
}

/** As `runOf`, where the agent has not been told yet. */
export async function viewOf(args: JsonObject, { phasegate, run }: ToolCall): Promise<RunView> {
  const asked = optionalText(args, 'session_id') ?? run;
  if (asked === undefined) throw wrongCall('`session_id` is missing', '`start_workflow` gives one');
  if (run !== undefined && asked !== run) {
    throw new PhasegateError('not_permitted', `this server serves the session \`${run}\` and no other`);
  }
  try {
    return await phasegate.view(asked);
  } catch (error) {
    if (!(error instanceof PhasegateError) || error.code !== 'run_unknown') throw error;
    throw new PhasegateError('run_unknown', `Session ${asked} not found`, { cause: error });
  }
}
