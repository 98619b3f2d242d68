import { type JsonObject, PhasegateError, type RunView } from '@phasegate/core';
import type { WorkedAt } from '@phasegate/core/engine';
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
export function remember({ epochs }: ToolCall, { run, epoch }: RunView): void {
  epochs?.set(run, epoch);
}

/** Where the run stood when the agent was last told of it: what it hands in was done for that visit. */
export function toldAt({ epochs }: ToolCall, { run, epoch }: RunView): WorkedAt {
  return { epoch: epochs?.get(run) ?? epoch };
}

/** As `runOf`, where the agent has not been told yet. */
export async function viewOf(args: JsonObject, call: ToolCall): Promise<RunView> {
  const asked = sessionOf(args, call);
  try {
    return await call.phasegate.view(asked);
  } catch (error) {
    if (!(error instanceof PhasegateError) || error.code !== 'run_unknown') throw error;
    throw new PhasegateError('run_unknown', `Session ${asked} not found`, { cause: error });
  }
}

/** The run a call names. */
export function sessionOf(args: JsonObject, { run }: ToolCall): string {
  const asked = optionalText(args, 'session_id') ?? run;
  if (asked === undefined) throw wrongCall('`session_id` is missing', '`start_workflow` gives one');
  if (run !== undefined && asked !== run) {
    throw new PhasegateError('not_permitted', `this server serves the session \`${run}\` and no other`);
  }
  return asked;
}
