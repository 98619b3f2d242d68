import { isAbsolute } from 'node:path';
import { own, phaseById, type Run, type ToolUse } from '@phasegate/core';
import { parseCommandLine } from '@phasegate/core/model';
import type { HookEvent } from '../ports.ts';
import { isPlanted } from './programPaths.ts';

/** Clients that have no tool to read a file: their models read by `cat`. */
const WITHOUT_READING: ReadonlySet<HookEvent['client']> = new Set(['codex']);

/** By whom a line is to be run, and where. */
export interface Reading extends Pick<HookEvent, 'client' | 'tool' | 'programs'> {
  workspaceOf(path: string): string | null;
}

/**
 * The files that a line only reads, where its client has no other way to read them: one plain `cat`, and nothing else in
 * it. Null for any other line, and where the phase allows every line anyway.
 */
export function readsByShell(
  run: Run | null,
  use: ToolUse,
  { client, tool, programs, workspaceOf }: Reading,
): readonly ToolUse[] | null {
  if (use.tool !== 'bash' || !WITHOUT_READING.has(client) || isOpen(run)) return null;
  const read = parseCommandLine(String(own(use.input, 'command') ?? ''));
  if (!read.ok || read.commands.length !== 1) return null;
  const [program, ...paths] = read.commands[0] ?? [];
  if (isPlanted('cat', programs, workspaceOf)) return null;
  if (program !== 'cat' || paths.length === 0 || paths.some((path) => /^-|[*?[\]]/.test(path))) return null;
  // A call that names a folder of its own is read from there.
  const isPlain = Object.keys(tool?.input ?? {}).every((name) => name === 'command' || name === 'cmd');
  if (!isPlain && !paths.every(isAbsolute)) return null;
  return paths.map((path) => ({ tool: 'read_files', input: { path } }));
}

/** Whether the phase of a run allows every line of the shell. */
export function isOpen(run: Run | null): boolean {
  const tools = run?.status === 'active' ? phaseById(run.workflow, run.phase)?.tools : undefined;
  return tools?.allowed.includes('bash') === true && tools.constraints.bash === undefined;
}
