import { isGuardedIn, judgeTool, mayWrite, phaseById, type Run } from '@phasegate/core';
import type { ToolContext } from './ports.ts';
import { CALL_VARIABLE } from './processes.ts';

/** What a tool may do in a run as it is now. The engine is asked again for every path that is really touched. */
export function contextFor(
  run: Run,
  tool: string,
  { workspace, signal, call }: Pick<ToolContext, 'workspace' | 'signal'> & { readonly call: string },
): ToolContext {
  const phase = run.status === 'active' ? phaseById(run.workflow, run.phase) : undefined;
  const permissive = run.workflow.enforcement.mode === 'permissive';
  return {
    workspace,
    signal,
    environment: { [CALL_VARIABLE]: call },
    // INVARIANT: the guard's own files are outside every scope, in permissive mode too.
    mayWrite: (path) =>
      phase !== undefined && !isGuardedIn(phase, path) && (permissive || mayWrite(phase, path)),
    mayRead: (path) => permissive || judgeTool(run, { tool, input: { path } }).allowed,
  };
}
