import type { NextAction, Run, RunSummary, RunView } from '@phasegate/core';
import { holdOnceBegun, type WorkspaceHold, waitingFor, workspaceHold } from '@phasegate/core/engine';
import { WORKSPACE_USES } from '@phasegate/core/model';
import type { Store } from '../ports.ts';

/** Where it is found which run has the workspace. */
export type HolderStore = Pick<Store, 'inWorkspace'>;

/**
 * The run that has the workspace, where one which is not begun has to wait for it. A look before, to say so in good time:
 * the store itself lets no two begin that keep each other out.
 */
export async function workspaceHolder(
  store: HolderStore,
  run: Pick<Run, 'id' | 'workflow' | 'folder'>,
): Promise<RunSummary | undefined> {
  const hold = holdOnceBegun(run);
  return hold === null ? undefined : store.inWorkspace(hold, run.id);
}

/** The same for a stored run, which may hold the workspace already, or is bound to `here` once it is begun. */
export async function keptWaitingBy(
  store: HolderStore,
  run: Run,
  here: string | undefined,
): Promise<RunSummary | undefined> {
  if (run.status !== 'queued' || workspaceHold(run) !== null) return undefined;
  const folder = run.folder ?? here;
  return workspaceHolder(store, folder === undefined ? run : { ...run, folder });
}

/** The ways in which no run that is bound to no folder yet can begin in this one now. */
export async function keptOutNow(
  store: HolderStore,
  folder: string | undefined,
): Promise<readonly WorkspaceHold[]> {
  const holds = WORKSPACE_USES.map((use) => ({ use }));
  const found = await Promise.all(holds.map((hold) => store.inWorkspace({ ...hold, folder }, '')));
  return holds.filter((_, index) => found[index] !== undefined);
}

/** Why a run waits and what lets it begin, in words. */
export function waitsFor(holder: RunSummary): string {
  const { why, next } = waitingFor(holder);
  return `${why}: ${next}`;
}

/** A view that says which run this one waits for, and the one thing that lets it begin. */
export function withHolder(view: RunView, holder: RunSummary | undefined): RunView {
  if (holder === undefined) return view;
  const { run, workflow, status } = holder;
  const { why, next } = waitingFor(holder);
  const nextAction: NextAction = { act: 'claim', text: `${next}; ${why}` };
  return { ...view, waitsFor: { run, workflow, status }, nextAction };
}
