import { PhasegateError } from '@phasegate/core';
import type { ArchiveRecord, Store, UnlockedHuman } from './ports.ts';
import { demandRole } from './roles.ts';

/** Moves runs that ended to an archive, for the human whose key was unlocked. */
export async function archiveRuns(
  { store, archiveFile }: { readonly store: Store; readonly archiveFile?: () => string },
  { before, file = archiveFile?.() }: { readonly before: string; readonly file?: string },
  human: UnlockedHuman,
): Promise<ArchiveRecord | null> {
  if (store.archive === undefined || file === undefined) {
    throw new PhasegateError('store_unavailable', 'this store archives no runs');
  }
  await demandRole(store, human.principal, { least: 'admin', what: 'archiving runs' });
  return store.archive({ before, file, by: `human:${human.principal.name}` });
}
