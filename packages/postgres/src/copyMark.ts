import type { Seal } from '@phasegate/core/ports';
import type { Database } from './database.ts';
import { unavailable } from './faults.ts';

/** What stands beside a copy that is whole and verified, until the project it is of knows that its runs are there. */
export function wholeMark({ settings }: Pick<Database, 'settings'>, seal: Seal): string {
  return seal.mac({ runId: '\0copied', version: 0, seq: 0, hash: '', state: settings.schema });
}

/** Takes the mark away: from here on any node may open it. */
export async function forgetCopying(database: Database): Promise<void> {
  await database.writing((query) => query('DELETE FROM copying'));
}

/**
 * What is being copied is not a store yet. A copy that is whole is one for the project that `existed` there by its own
 * account: it was cut short right before its mark was taken away.
 */
export async function requireWhole(
  database: Database,
  { seal, existed = false }: { readonly seal: Seal; readonly existed?: boolean | undefined },
): Promise<void> {
  const [row] = (await database.query('SELECT mac FROM copying')).rows;
  if (row === undefined) return;
  if (existed && row.mac === wholeMark(database, seal)) return forgetCopying(database);
  throw unavailable(
    database.settings.shown,
    'a store is being copied into it, or was not copied to its end',
    {
      hint: 'run `phasegate migrate-store` again, which resumes it',
    },
  );
}
