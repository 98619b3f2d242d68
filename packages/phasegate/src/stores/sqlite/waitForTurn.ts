import type { StatementSync } from 'node:sqlite';
import { isBusy } from './faults.ts';

/** How many times SQLite's own wait is begun again while others keep committing. */
const TURNS = 6;

/**
 * Begins a transaction. SQLite's wait is not fair, so a process can miss its turn in a long queue: as long as the
 * others commit there is a queue and not a lock, and waiting on is right.
 */
export function waitForTurn(begin: StatementSync, dataVersion: () => StatementSync): void {
  let seen: unknown;
  for (let turn = 1; ; turn++) {
    try {
      begin.run();
      return;
    } catch (error) {
      if (!isBusy(error) || turn === TURNS) throw error;
      const now = dataVersion().get()?.data_version;
      if (now === seen) throw error;
      seen = now;
    }
  }
}
