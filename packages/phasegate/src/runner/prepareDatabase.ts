import type { Run } from '@phasegate/core';
import type { DriveRequest } from '../runtime/ports.ts';

/** Backs up the workflow's database once per run, before its first step, and brings its schema up to date. */
export async function prepareDatabase({ open, report }: DriveRequest, run: Run): Promise<void> {
  const { database } = run.workflow;
  if (database === undefined) return;
  await open.databases.protect(database);
  if (!(await open.databaseBackups.list()).some((backup) => backup.run === run.id)) {
    const backup = await open.databaseBackups.make(run.id);
    if (backup !== null)
      report({ event: 'note', message: `\`${database.file}\` is backed up to ${backup.path}` });
  }
  if (database.migrations === null) return;
  const applied = await open.databases.migrate(database);
  if (applied.length > 0) report({ event: 'note', message: `migrations applied: ${applied.join(', ')}` });
}
