import { judgeTool, phaseById, type Run } from '@phasegate/core';
import { isGuardedIn, mayWrite } from '@phasegate/core/engine';
import { isDefinition } from '@phasegate/core/model';
import type { Enclose, ToolContext } from './ports.ts';
import { CALL_VARIABLE } from './processes.ts';
import { needsSandbox } from './sandboxing.ts';

/** What a tool is carried out in. */
interface Surroundings extends Pick<ToolContext, 'workspace' | 'signal'> {
  /** The sandbox for programs of the run's phase; undefined: they are run in none. */
  readonly enclose: Enclose | undefined;
  /** Whether a path belongs to a database of the project's, of whichever workflow. */
  isProtected(path: string): boolean;
  /** The call's id, by which what it starts is known. */
  readonly call: string;
}

/** What a tool may do in a run as it is now. The engine is asked again for every path that is really touched. */
export function contextFor(
  run: Run,
  tool: string,
  { workspace, signal, isProtected, call, enclose }: Surroundings,
): ToolContext {
  const phase = run.status === 'active' ? phaseById(run.workflow, run.phase) : undefined;
  // What a sandbox covers is not read out through the engine either.
  const hides = needsSandbox(run);
  const permissive = run.workflow.enforcement.mode === 'permissive';
  return {
    workspace,
    signal,
    environment: { [CALL_VARIABLE]: call },
    ...(enclose === undefined
      ? {}
      : { enclose: (program) => enclose({ ...program, withoutDefinitions: true }) }),
    // INVARIANT: the guard's own files are outside every scope, in permissive mode too.
    mayWrite: (path) =>
      phase !== undefined &&
      !isGuardedIn(phase, path) &&
      !isProtected(path) &&
      (permissive || mayWrite(phase, path)),
    mayRead: (path) =>
      permissive || (!(hides && isHidden(run, path)) && judgeTool(run, { tool, input: { path } }).allowed),
  };
}

function isHidden({ workflow }: Run, path: string): boolean {
  return isDefinition(path) || path === workflow.source?.path;
}
