import type { Principal, Run } from '@phasegate/core';
import { endOf } from './auditDrafts.ts';
import { droppedLeases } from './leases/droppedLeases.ts';
import type { Beside } from './ports.ts';

/** What is written beside a run: its end on the project's chain, and the leases that came and went with it. */
export function companyOf(
  { before, after }: { readonly before: Run; readonly after: Run },
  by: Principal,
  { leases = [], seen }: Pick<Beside, 'leases' | 'seen'>,
): Beside {
  const written = { project: endOf(after, by), leases: [...droppedLeases(before, after), ...leases] };
  return seen === undefined ? written : { ...written, seen };
}
