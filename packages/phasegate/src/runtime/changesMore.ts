import { phaseById, type Run } from '@phasegate/core';
import { guardOf } from '@phasegate/core/model';

/** Whether a tool can change files that it does not name. */
export function runsProgram(tool: string): boolean {
  return tool === 'bash' || tool === 'git' || tool.startsWith('mcp:');
}

/** Whether the phase a run is in opens one of the guard's own files by its path. */
export function opensGuarded({ workflow, phase }: Run): boolean {
  return phaseById(workflow, phase)?.writes?.some((path) => guardOf(path) === 'named') ?? false;
}
