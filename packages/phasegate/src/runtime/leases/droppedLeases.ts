import type { Run } from '@phasegate/core';
import { heldItems } from '@phasegate/core/engine';
import type { LeaseChange } from '../ports.ts';

/**
 * The leases that end with what happened to a run: of the run where its holder no longer holds it, of items that
 * were let go, and all of them with the phase or the run. Read off the run, so that no command can forget one.
 */
export function droppedLeases(before: Run, after: Run): readonly LeaseChange[] {
  const dropped: LeaseChange[] = [];
  if (before.holder !== null && (after.phase === null || after.holder !== before.holder)) {
    dropped.push({ drop: { run: before.id, item: null } });
  }
  // A phase that is entered again has items of the same names that nobody holds yet.
  const kept =
    after.phase !== null && after.work.enteredAt === before.work.enteredAt ? after.work.items : null;
  for (const [key, { holder }] of heldItems(before)) {
    if (kept?.[key]?.holder !== holder) dropped.push({ drop: { run: before.id, item: key } });
  }
  return dropped;
}
