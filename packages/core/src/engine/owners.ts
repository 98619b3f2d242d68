import type { PhaseWork, RunCore } from './run.ts';

/** The human whose key an agent used, as it is written: not at all where it is nobody's. */
export function ownerOf(of: { readonly owner?: string } = {}): Pick<RunCore, 'owner'> {
  return of.owner === undefined ? {} : { owner: of.owner };
}

/** The work of a visit in which that human's key was used, too. */
export function withOwner(work: PhaseWork, owner: string | undefined): PhaseWork {
  const owners = work.owners ?? [];
  return owner === undefined || owners.includes(owner) ? work : { ...work, owners: [...owners, owner] };
}
