import type { Run } from '@phasegate/core';
import {
  claimability,
  gateDueAt,
  holdOnceBegun,
  keepsOut,
  type WorkspaceHold,
  workspaceHold,
} from '@phasegate/core/engine';
import { targetKey, WORKSPACE_USES } from '@phasegate/core/model';
import { capabilitiesOf, priorityOf } from './storedRun.ts';

/** By what a run is found without being read. Each follows from the run alone, so that a verification can compare. */
export interface RunPlaces {
  /** Sorts the runs that may be claimed into their order; null for all others. */
  readonly claimPlace: string | null;
  /** From when on its gate may be due; empty where that is now, null where it waits at none with a limit. */
  readonly gateDue: string | null;
  /** What it is about, or was when it was stopped; null once it is completed, or where it was stopped and about nothing. */
  readonly targetKey: string | null;
  /** How it holds the workspace, or will once it is begun; null where it does not. */
  readonly workspace: string | null;
}

/** The places of a run as it is. */
export function placesOf(run: Run): RunPlaces {
  const over = run.status === 'completed' || run.status === 'stopped';
  return {
    claimPlace: claimPlace(run),
    gateDue: gateDue(run),
    targetKey: isAboutNothing(run) ? null : targetKey(run.target),
    workspace: over ? null : (workspacePlace(workspaceHold(run)) ?? wantedPlace(holdOnceBegun(run))),
  };
}

/** A target that was said no to bears on the next run about it. */
function isAboutNothing({ status, target }: Run): boolean {
  return status === 'completed' || (status === 'stopped' && target === null);
}

/** By what a run is found that holds the workspace so. */
export function workspacePlace(hold: WorkspaceHold): string;
export function workspacePlace(hold: WorkspaceHold | null): string | null;
export function workspacePlace(hold: WorkspaceHold | null): string | null {
  if (hold === null) return null;
  return hold.folder === undefined ? hold.use : `${hold.use} ${hold.folder}`;
}

/** By what a run is found that will hold the workspace so once it is begun. */
export function wantedPlace(hold: WorkspaceHold): string;
export function wantedPlace(hold: WorkspaceHold | null): string | null;
export function wantedPlace(hold: WorkspaceHold | null): string | null {
  return hold === null ? null : `wanted ${workspacePlace(hold)}`;
}

/** The places of the runs that one which would hold the workspace so has to wait for. */
export function placesInTheWay(hold: WorkspaceHold): readonly string[] {
  const uses = WORKSPACE_USES.filter((use) => keepsOut(hold, { ...hold, use }));
  return uses.map((use) => workspacePlace({ ...hold, use }));
}

/** The places of the runs that keep this one out; none where it holds no workspace, or held it so before. */
export function placesKeepingOut(before: Run | undefined, run: Run): readonly string[] {
  const hold = workspaceHold(run);
  if (hold === null) return [];
  const held = before === undefined ? null : workspacePlace(workspaceHold(before));
  return held === workspacePlace(hold) ? [] : placesInTheWay(hold);
}

/** Whether a run is in one of these places. */
export function isInPlace(run: Run, places: readonly string[]): boolean {
  const place = workspacePlace(workspaceHold(run));
  return place !== null && places.includes(place);
}

/** Whether somebody should notice when nothing happens in a run. */
export function goesOn({ status }: Run): boolean {
  return status === 'active' || status === 'queued' || status === 'waiting';
}

/**
 * Whether a run is found and listed under the same values as before: then only its own row is written, and no index.
 * A run that waits is never taken for the same: votes may move its clock, and it is written seldom.
 */
export function isFoundAlike(before: Run, after: Run): boolean {
  return (
    before.status === after.status &&
    after.status !== 'waiting' &&
    before.holder === after.holder &&
    before.target === after.target &&
    before.workflowHash === after.workflowHash &&
    priorityOf(before) === priorityOf(after) &&
    String(capabilitiesOf(before)) === String(capabilitiesOf(after)) &&
    claimability(before) === claimability(after) &&
    (after.status !== 'queued' ||
      workspacePlace(workspaceHold(before)) === workspacePlace(workspaceHold(after)))
  );
}

/** Far beyond what anybody may ask for. */
const MOST_PRIORITY = 1e12;

function claimPlace(run: Run): string | null {
  const how = claimability(run);
  if (how === null) return null;
  const priority = Math.max(-MOST_PRIORITY, Math.min(MOST_PRIORITY, priorityOf(run)));
  const before = String(MOST_PRIORITY - priority).padStart(13, '0');
  // What is begun is finished first, but never before what somebody gave a higher priority.
  return `${before} ${how === 'begun' ? 0 : 1} ${run.startedAt}`;
}

/** INVARIANT: never later than the engine closes the gate. Its clock never goes back past the run's own time. */
function gateDue(run: Run): string | null {
  try {
    const due = gateDueAt(run);
    return due === null || due > run.updatedAt ? due : '';
  } catch {
    // A gate that cannot be understood is to be looked at, and reported by the one who does.
    return '';
  }
}
