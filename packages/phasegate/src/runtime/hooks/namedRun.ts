import { own } from '@phasegate/core';
import { runIdIn } from '@phasegate/core/contract';
import type { HookTool } from '../ports.ts';
import type { ownCommand } from './ownCommands.ts';

/** The run that a call to one of Phasegate's own tools or commands names. */
export function namedRun(tool: HookTool, shell: ReturnType<typeof ownCommand> | null): string | null {
  if (shell?.kind === 'agents') return shell.run;
  const session = tool.kind === 'own' ? own(tool.input, 'session_id') : undefined;
  return typeof session === 'string' ? session : null;
}

/** Whether a call asks for a phase to be complete. */
export function completes(tool: HookTool, shell: ReturnType<typeof ownCommand> | null): boolean {
  return shell?.kind === 'agents'
    ? shell.completes
    : tool.kind === 'own' && /(?:^|[_:-])complete_phase$/.test(tool.name);
}

/** The run that a call started, by what came of it. */
export function startedRun(
  tool: HookTool,
  shell: ReturnType<typeof ownCommand> | null,
  output: string,
): string | null {
  return starts(tool, shell) ? runIdIn(output) : null;
}

/** Whether a call to one of Phasegate's own tools or commands starts a run. */
export function starts(tool: HookTool, shell: ReturnType<typeof ownCommand> | null): boolean {
  if (shell?.kind === 'agents') return shell.starts;
  return tool.kind === 'own' && /(?:^|[_:-])start_workflow$/.test(tool.name);
}
