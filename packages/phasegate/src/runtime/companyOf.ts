import type { Principal, Run } from '@phasegate/core';
import { endOf } from './auditDrafts.ts';
import { droppedLeases } from './leases/droppedLeases.ts';
import type { Beside, LeaseChange } from './ports.ts';

/** What is written beside a run: its end on the project's chain, and the leases that came and went with it. */
export function companyOf(
  { before, after }: { readonly before: Run; readonly after: Run },
  by: Principal,
  put: readonly LeaseChange[],
): Beside {
  return { project: endOf(after, by), leases: [...droppedLeases(before, after), ...put] };
}
