import type { ClaimableRun } from '../ports.ts';

/**
 * Remembers which runs are not for a kind of agent, so that each is read once for it and not at every claim. What decides
 * that is fixed for as long as the run's epoch stands.
 */
export interface PassedOver {
  has(kind: string, run: Pick<ClaimableRun, 'run' | 'epoch'>): boolean;
  note(kind: string, run: Pick<ClaimableRun, 'run' | 'epoch'>): void;
}

/** Starts with nothing remembered. */
export function createPassedOver(): PassedOver {
  const epochs = new Map<string, number>();
  return {
    has: (kind, { run, epoch }) => epochs.get(`${kind} ${run}`) === epoch,
    note(kind, { run, epoch }) {
      if (epochs.size >= MOST) epochs.clear();
      epochs.set(`${kind} ${run}`, epoch);
    },
  };
}

/** About ten megabytes. Where more wait that are not for an agent, they are read again now and then. */
const MOST = 100_000;
