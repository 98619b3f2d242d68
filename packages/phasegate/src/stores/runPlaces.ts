import type { Run } from '@phasegate/core';
import { claimability, gateDueAt } from '@phasegate/core/engine';
import { targetKey } from '@phasegate/core/model';
import { capabilitiesOf, priorityOf } from './storedRun.ts';

/** By what a run is found without being read. Each follows from the run alone, so that a verification can compare. */
export interface RunPlaces {
  /** Sorts the runs that may be claimed into their order; null for all others. */
  readonly claimPlace: string | null;
  /** From when on its gate may be due; empty where that is now, null where it waits at none with a limit. */
  readonly gateDue: string | null;
  /** What it is about; null once it is over. */
  readonly targetKey: string | null;
}

/** The places of a run as it is. */
export function placesOf(run: Run): RunPlaces {
  const over = run.status === 'completed' || run.status === 'stopped';
  return {
    claimPlace: claimPlace(run),
    gateDue: gateDue(run),
    targetKey: over ? null : targetKey(run.target),
  };
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
    claimability(before) === claimability(after)
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
