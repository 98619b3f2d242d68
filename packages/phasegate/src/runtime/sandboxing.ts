import { phaseById, type Run, type Workflow } from '@phasegate/core';
import { isGuardedIn, mayWrite } from '@phasegate/core/engine';
import { attachmentOf, type PhaseId, type Ring } from '@phasegate/core/model';
import type { Databases, Enclose, Sandbox, SandboxScope } from './ports.ts';

/** What programs of runs are held by. */
export interface Sandboxing {
  readonly sandbox: Sandbox;
  /** Whether the project has every program in a sandbox, whatever its workflow asks for. */
  always(): Promise<boolean>;
}

/** What it is decided by whether, and how, a program is held. */
export interface Held {
  readonly workflow: Workflow;
  readonly phase: PhaseId | null;
  /** The ring of the run; of none yet: absent. */
  readonly ring?: Ring;
}

/** Where programs are run. */
export interface HeldIn {
  readonly sandboxing?: Sandboxing;
  readonly workspace: string;
  readonly databases?: Pick<Databases, 'protection'>;
}

/** The sandbox for programs of a phase; undefined where they are run in none. */
export async function encloseFor(held: Held, { sandboxing, ...place }: HeldIn): Promise<Enclose | undefined> {
  if (sandboxing === undefined) return undefined;
  if (!needsSandbox(held) && !(await sandboxing.always())) return undefined;
  return encloseAlways(held, { sandboxing, ...place });
}

/** The same for one who wants a sandbox, whatever the workflow and the project say. */
export async function encloseAlways(
  held: Held,
  { sandboxing, workspace, databases }: HeldIn & { readonly sandboxing: Sandboxing },
): Promise<Enclose> {
  const isProtected = (await databases?.protection()) ?? (() => false);
  const scope = scopeOf(held, { workspace, isProtected });
  return (program) => sandboxing.sandbox.enclose(program, scope);
}

/** Whether a run, by its workflow or by how its agent is attached, has its programs in a sandbox. */
export function needsSandbox({ workflow, ring = 'served' }: Pick<Held, 'workflow' | 'ring'>): boolean {
  return [ring, workflow.enforcement.ring].some((one) => attachmentOf(one) === 'sandboxed');
}

/** What is held of a run as it is now. A run that waits or is over has no phase that may write. */
export function heldOf(run: Run): Held {
  return { workflow: run.workflow, phase: run.status === 'active' ? run.phase : null, ring: run.ring };
}

function scopeOf(
  { workflow, phase: id }: Held,
  { workspace, isProtected }: { readonly workspace: string; isProtected(path: string): boolean },
): SandboxScope {
  const phase = id === null ? undefined : phaseById(workflow, id);
  const definitions = workflow.source === undefined ? {} : { definitions: [workflow.source.path] };
  if (phase === undefined)
    return { workspace, writes: [], mayWrite: () => false, commits: false, ...definitions };
  const permissive = workflow.enforcement.mode === 'permissive';
  return {
    workspace,
    writes: permissive ? ['**'] : phase.writes,
    mayWrite: (path) =>
      !isGuardedIn(phase, path) && !isProtected(path) && (permissive || mayWrite(phase, path)),
    commits: permissive || phase.tools.allowed.includes('git'),
    ...definitions,
    ...(phase.hosts === undefined ? {} : { hosts: phase.hosts }),
  };
}
